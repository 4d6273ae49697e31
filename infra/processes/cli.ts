#!/usr/bin/env node
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Argument, Command, CommanderError, Option } from 'commander';
import { systemClock } from '../base/clock.ts';
import { HeadwaterError } from '../base/errors/index.ts';
import { type BackfillOrder, loadConfig, type Secrets, withOrder } from '../config/index.ts';
import { VERSION } from './build.ts';
import type { CommandContext } from './commands/client.ts';
import type { Explainable } from './commands/explain.ts';
import type { GarbageOptions } from './commands/garbage.ts';
import type { BackfillOptions } from './commands/groups.ts';
import type { PlanOptions } from './commands/groupsPlan.ts';
import type { NzbImportOptions } from './commands/importNzb.ts';
import type { RangeFilter } from './commands/ranges.ts';
import type { RetryOptions } from './commands/rangesRetry.ts';
import { EXIT, type ExitCode, exitCodeOf } from './exitCodes.ts';
import { redact } from './log.ts';
import { SERVICES } from './services/table.ts';
import { stopOnSignals } from './stopOnSignals.ts';

// Commands are imported when they are called: a service that starts, or a short command, loads only what it needs.
const PROGRAM = fileURLToPath(import.meta.url);
const backfillOrder = () =>
  new Option('--order <order>', 'begin backfill with the oldest or the newest year, instead of indexing.order').choices(
    ['oldest', 'newest'],
  );
const json = () => new Option('--json', 'print data instead of text').default(false);
type Ordered = { readonly order?: BackfillOrder };
type Json = { readonly json: boolean };

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

function endNow(): void {
  process.stderr.write('ended at once; `make down` stops what is left of `headwater up`\n');
  process.exit(EXIT.failed);
}

/** Services and `up` handle signals in their own way, commands abort. */
function contextOf(program: Command, signal: AbortSignal, secrets: Secrets): CommandContext {
  const { config: path } = program.opts<{ config?: string }>();
  const { config, file } = loadConfig({ path, env: process.env, cwd: process.cwd(), secrets });
  const isTerminal = process.stdout.isTTY === true;
  return { config, configFile: file, env: process.env, print: say, signal, isTerminal };
}

type Run = (context: CommandContext) => Promise<ExitCode>;

type RunWith = (command: Run, secrets?: Secrets) => Promise<void>;

/** How far back groups are wanted: the same options wherever groups join. */
const withBackfill = (command: Command): Command =>
  command
    .option('--days <n>', 'only what was posted in the last n days')
    .option('--since <date>', 'only what was posted since that date (2024-01-31)')
    .option('--from, --from-number <number>', 'only from that article number on')
    .option('--live-only', 'only what is posted from now on');

function addGroupCommands(program: Command, run: RunWith): void {
  const groups = program.command('groups').description('which newsgroups are indexed');
  withBackfill(groups.command('add <group...>'))
    .description('index groups; without an option everything that the server still has')
    .action((names: string[], options: BackfillOptions) =>
      run(async (c) => (await import('./commands/groups.ts')).addGroups(c, names, options)),
    );
  withBackfill(groups.command('plan'))
    .description('which of the largest groups of the news servers the list lacks; --apply adds them')
    .requiredOption('--top <n>', 'how many of the largest groups are looked at')
    .option('--match <glob>', 'only groups of such names (* and ?)', 'alt.binaries.*')
    .option('--provider <name>', 'ask this provider only')
    .option('--dry-run', 'print what would be added, as without --apply', false)
    .option('--apply', 'add them to the list', false)
    .addOption(json())
    .action((options: PlanOptions & Json) =>
      run(async (c) => (await import('./commands/groupsPlan.ts')).planGroups(c, options, options.json), 'required'),
    );
  groups
    .command('remove <group...>')
    .description('index no more of these groups; what is indexed stays')
    .action((names: string[]) => run(async (c) => (await import('./commands/groups.ts')).removeGroups(c, names)));
  groups
    .command('list')
    .description('the groups, with what is wanted of each')
    .addOption(json())
    .action((options: Json) => run(async (c) => (await import('./commands/groups.ts')).listGroups(c, options.json)));
}

function addGarbageCommands(program: Command, run: RunWith): void {
  const garbage = program.command('garbage').description('which random-named articles are dropped');
  garbage
    .command('add')
    .description('drop random-named articles whose poster, message-id or posting tool fits a pattern (* and ?)')
    .requiredOption('--signature <name>', 'what they are counted under')
    .option('--poster <pattern>', 'the whole From field')
    .option('--message-id <pattern>', 'the whole message-id')
    .option('--tool <pattern>', 'the posting tool, as its message-ids tell')
    .action((options: GarbageOptions) =>
      run(async (c) => (await import('./commands/garbage.ts')).addGarbage(c, options)),
    );
  garbage
    .command('remove <signature>')
    .description('take every pattern of a signature out')
    .action((name: string) => run(async (c) => (await import('./commands/garbage.ts')).removeGarbage(c, name)));
  garbage
    .command('list')
    .description('the patterns in force')
    .addOption(json())
    .action((options: Json) => run(async (c) => (await import('./commands/garbage.ts')).listGarbage(c, options.json)));
}

function addKeyCommands(program: Command, run: (command: Run) => Promise<void>): void {
  const keys = program.command('keys').description('API keys');
  keys
    .command('create <name>')
    .description('make a key and print it; it cannot be read again')
    .option('--scopes <list>', 'search,get,ops', 'search,get')
    .action((name: string, options: { scopes: string }) =>
      run(async (c) => (await import('./commands/keys.ts')).createKeyCommand(c, name, options.scopes)),
    );
  keys
    .command('list')
    .description('the keys, without their secret part')
    .addOption(json())
    .action((options: Json) => run(async (c) => (await import('./commands/keys.ts')).listKeysCommand(c, options.json)));
  keys
    .command('revoke <id>')
    .description('make a key invalid, by its id or its first characters')
    .action((id: string) => run(async (c) => (await import('./commands/keys.ts')).revokeKeyCommand(c, id)));
}

function addRangeCommands(program: Command, run: RunWith): void {
  const ranges = program.command('ranges').description('what was planned, fetched and parsed');
  ranges
    .command('list')
    .description('ranges by group and number')
    .option('--group <group>', 'only of this group')
    .option('--state <state>', 'planned, fetched, parsed, short, failed or retired')
    .option('--era <year>', 'only of articles posted in this year')
    .option('--limit <n>', 'lines at most', '50')
    .addOption(json())
    .action((options: RangeFilter & Json) =>
      run(async (c) => (await import('./commands/ranges.ts')).listRangesCommand(c, options, options.json)),
    );
  ranges
    .command('retry [range...]')
    .description('try failed ranges again')
    .option('--group <group>', 'those of this group')
    .option('--state <state>', 'failed: all that failed')
    .action((names: string[], options: RetryOptions) =>
      run(async (c) => (await import('./commands/rangesRetry.ts')).retryRanges(c, names, options)),
    );
}

function addImportCommands(program: Command, run: RunWith): void {
  const imports = program.command('import').description('index something that is not on a news server');
  imports
    .command('overview <file>')
    .description('a file of overview lines, plain, gzip or zstd, ascending article numbers')
    .requiredOption('--group <group>', 'the newsgroup that the lines are of')
    .requiredOption('--backbone <name>', 'whose article numbers they carry')
    .action((file: string, options: { group: string; backbone: string }) =>
      run(async (c) => (await import('./commands/importOverview.ts')).importOverviewCommand(c, file, options)),
    );
  imports
    .command('nzb <path>')
    .description('an NZB file, or all in and below a folder (.nzb, .nzb.gz, .nzb.zst)')
    .option('--group <group>', 'the newsgroup of NZBs that name none')
    .action((path: string, options: NzbImportOptions) =>
      run(async (c) => (await import('./commands/importNzb.ts')).importNzbCommand(c, path, options)),
    );
}

function addExplainCommand(program: Command): void {
  program
    .command('explain')
    .description('what the headers core makes of each line of standard input')
    .addArgument(new Argument('<what>', 'a subject or a whole overview line').choices(['subject', 'line']))
    .addOption(json())
    .action(async (what: Explainable, options: Json) => {
      const { explainCommand } = await import('./commands/explain.ts');
      process.exitCode = await explainCommand(what, { ...options, input: process.stdin, print: say });
    });
}

function addProcessCommands(
  program: Command,
  run: (command: Run, secrets?: Secrets) => Promise<void>,
  context: (secrets: Secrets) => CommandContext,
): void {
  const base = { program: PROGRAM, execArgv: process.execArgv };
  program
    .command('up')
    .description('run everything in the foreground')
    .addOption(backfillOrder())
    .action((options: Ordered) =>
      run(async (c) => (await import('./up/up.ts')).up({ ...c, ...base, ...options }), 'required'),
    );
  program
    .command('down')
    .description('stop what runs on this data folder')
    .action(() => run(async (c) => (await import('./commands/down.ts')).downCommand(c)));
  program
    .command('run <service>')
    .description(`run one service: ${Object.keys(SERVICES).join(', ')}`)
    .option('--bare', 'do not start it again when it ends', false)
    .addOption(backfillOrder())
    .action(async (name: string, { bare, order }: Ordered & { bare: boolean }) => {
      const load = Object.hasOwn(SERVICES, name) ? SERVICES[name as keyof typeof SERVICES] : undefined;
      if (!load) {
        const fields = { option: 'run', takes: Object.keys(SERVICES).join(', '), value: name };
        throw new HeadwaterError('USAGE_WRONG_VALUE', fields);
      }
      if (order && name !== 'coordinator') {
        throw new HeadwaterError('USAGE_WRONG_VALUE', {
          option: '--order',
          takes: 'the coordinator only',
          value: name,
        });
      }
      const c = context('required');
      process.exitCode = await (bare
        ? (await import('./service.ts')).runService(await load(), withOrder(c.config, order), c.env)
        : (await import('./up/runWithRestarts.ts')).runWithRestarts(name, { ...c, ...base, order }));
    });
  program
    .command('status')
    .description('services, streams, projections, and what needs attention')
    .addOption(json())
    .action((options: Json) => run(async (c) => (await import('./commands/status.ts')).statusCommand(c, options.json)));
  program
    .command('doctor')
    .description('check what Headwater stands on, and say what to do')
    .addOption(json())
    .action((options: Json) => run(async (c) => (await import('./commands/doctor.ts')).doctorCommand(c, options.json)));
}

function createProgram(): Command {
  const program = new Command('headwater')
    .description('A self-hosted Usenet indexer')
    .version(VERSION)
    .option('--config <file>', 'the configuration (default: headwater.yaml here)')
    .exitOverride();
  let signal: AbortSignal | null = null;
  // Only what talks to providers needs their passwords: an operator's other terminal does not have them.
  const context = (secrets: Secrets) => contextOf(program, signal ?? new AbortController().signal, secrets);
  const run = async (command: Run, secrets: Secrets = 'optional'): Promise<void> => {
    signal = stopOnSignals({ source: process, clock: systemClock, endNow });
    process.exitCode = await command(context(secrets));
  };
  addProcessCommands(program, run, context);
  addGroupCommands(program, run);
  addGarbageCommands(program, run);
  addRangeCommands(program, run);
  addImportCommands(program, run);
  addKeyCommands(program, run);
  addExplainCommand(program);
  return program;
}

/** The one place where an error ends the program: one or two lines for a person, the exit code for a script. */
function endWith(error: unknown): void {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    return;
  }
  process.exitCode = exitCodeOf(error);
  if (error instanceof HeadwaterError) process.stderr.write(`${redact(error.message)}\n${error.hint}\n`);
  else process.stderr.write(`${redact((error as Error)?.stack ?? String(error))}\n`);
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === PROGRAM) {
  await createProgram().parseAsync(process.argv).catch(endWith);
}

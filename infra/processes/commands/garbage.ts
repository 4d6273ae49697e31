import {
  appendGarbage,
  newestGarbage,
  signaturesOf,
  withoutSignature,
  withSignature,
} from '../../../processors/garbage/garbageTableLog.ts';
import { TOOLS } from '../../../processors/headers/tools.ts';
import type { GarbageField, GarbageSignature, GarbageTable } from '../../../streams/events/control.ts';
import { systemClock } from '../../base/clock.ts';
import { HeadwaterError } from '../../base/errors/index.ts';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { type CommandContext, type NatsClient, withNats } from './client.ts';
import { matchesGlob } from './glob.ts';
import { refuse } from './groups.ts';
import { tableLines } from './table.ts';

/** What an article is recognised by, as the options of `garbage add` say it: one of the three. */
export interface GarbageOptions {
  readonly signature: string;
  readonly poster?: string;
  readonly messageId?: string;
  readonly tool?: string;
}

const SIGNATURES_MAX = 1000;
const PATTERN_MAX = 200;
const OPTION_OF: Readonly<Record<GarbageField, string>> = {
  poster: '--poster',
  message_id: '--message-id',
  tool: '--tool',
};

function nameOf(name: string): string {
  return /^[a-z0-9_-]{1,40}$/.test(name) ? name : refuse('--signature', '1 to 40 of a-z, 0-9, _ and -', name);
}

/** The signature that the options express. Throws USAGE_MISSING, USAGE_CONTRADICTION and USAGE_WRONG_VALUE. */
export function signatureOf({ signature, poster, messageId, tool }: GarbageOptions): GarbageSignature {
  const all: readonly (readonly [GarbageField, string | undefined])[] = [
    ['poster', poster],
    ['message_id', messageId],
    ['tool', tool],
  ];
  const given = all.filter((one): one is [GarbageField, string] => one[1] !== undefined);
  const [first] = given;
  if (!first)
    throw new HeadwaterError('USAGE_MISSING', {
      command: 'garbage add',
      needs: 'one of --poster, --message-id and --tool',
    });
  if (given.length > 1) {
    const options = given.map(([field]) => OPTION_OF[field]).join(' and ');
    throw new HeadwaterError('USAGE_CONTRADICTION', { options });
  }
  const [field, text] = first;
  // An id is compared without its brackets, wherever it was copied from.
  const pattern = field === 'message_id' ? text.replace(/^<(.*)>$/, '$1') : text;
  if (pattern === '' || pattern.length > PATTERN_MAX)
    return refuse(OPTION_OF[field], `a pattern of 1 to ${PATTERN_MAX} characters (* and ?)`, text);
  // A pattern that fits everything would drop every random-named article there is.
  if (/^\*+$/.test(pattern)) return refuse(OPTION_OF[field], 'a pattern that does not fit everything', text);
  if (field === 'tool' && !TOOLS.some((known) => matchesGlob(pattern.toLowerCase(), known.toLowerCase())))
    return refuse('--tool', TOOLS.join(', '), text);
  return { signature: nameOf(signature), field, pattern };
}

/** Reads the newest table, changes it, appends it as the next version; again when somebody else was first. */
async function changeTable(
  { sink, reader }: NatsClient,
  signal: AbortSignal,
  step: (table: GarbageTable | null) => GarbageTable | null,
): Promise<GarbageTable | null> {
  for (;;) {
    const newest = await newestGarbage(reader);
    const next = step(newest.table);
    if (next === null || (await appendGarbage(sink, newest, next, systemClock.now(), signal))) return next;
  }
}

/** `garbage add`: ranges planned from now on drop random-named articles that fit. */
export function addGarbage(context: CommandContext, options: GarbageOptions): Promise<ExitCode> {
  const added = signatureOf(options);
  return withNats(context, async (client) => {
    const next = await changeTable(client, context.signal, (table) => {
      if (signaturesOf(table).length >= SIGNATURES_MAX)
        return refuse('garbage add', `at most ${SIGNATURES_MAX} patterns in the table`, added.signature);
      return withSignature(table, added);
    });
    const done = `added: ${added.signature}; version ${next?.garbageVersion} holds for ranges planned from now on`;
    context.print(next ? done : 'nothing to do: the table has it already');
    return EXIT.ok;
  });
}

/** `garbage remove`: takes every pattern of the signature out. */
export function removeGarbage(context: CommandContext, name: string): Promise<ExitCode> {
  const signature = nameOf(name);
  return withNats(context, async (client) => {
    const next = await changeTable(client, context.signal, (table) => withoutSignature(table, signature));
    const done = `removed: ${signature}; version ${next?.garbageVersion} holds for ranges planned from now on`;
    context.print(next ? done : `there is no signature ${signature}`);
    return next ? EXIT.ok : EXIT.failed;
  });
}

/** `garbage list`: the newest table; version 0 is the one that Headwater comes with. */
export const listGarbage = (context: CommandContext, json: boolean): Promise<ExitCode> =>
  withNats(context, async ({ reader }) => {
    const { table } = await newestGarbage(reader);
    const [garbageVersion, signatures] = [table?.garbageVersion ?? 0, signaturesOf(table)];
    if (json) {
      context.print(JSON.stringify({ garbageVersion, signatures }, null, 2));
      return EXIT.ok;
    }
    const rows = signatures.map((s) => [s.signature, s.field, s.pattern]);
    for (const line of tableLines(['signature', 'field', 'pattern'], rows)) context.print(line);
    context.print(garbageVersion === 0 ? '(version 0, the default)' : `(version ${garbageVersion})`);
    return EXIT.ok;
  });

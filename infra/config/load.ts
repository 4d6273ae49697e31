import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Compile } from 'typebox/compile';
import { Settings } from 'typebox/system';
import { Default } from 'typebox/value';
import { type Document, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import { HeadwaterError } from '../base/errors/index.ts';
import { addressProblem, unsetVariable } from './address.ts';
import { type Config, configSchema } from './schema.ts';

export const CONFIG_FILE = 'headwater.yaml';

export interface ConfigSource {
  /** An explicit path (must exist); without it HEADWATER_CONFIG, then ./headwater.yaml when it exists, then defaults. */
  readonly path?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** `optional`: a variable that is not set stays as it is written, for commands that never use it. Default: required. */
  readonly secrets?: Secrets;
}

export type Secrets = 'required' | 'optional';

/** A place in the document: the keys and indexes that lead to it. */
type Path = readonly (string | number)[];

// The library stops after eight complaints by itself; the first in the file may be a later one.
Settings.Set({ maxErrors: 200 });
const check = Compile(configSchema);

/**
 * Reads, expands and checks the configuration. Throws CONFIG_NOT_FOUND, CONFIG_NOT_YAML, CONFIG_UNKNOWN_KEY,
 * CONFIG_WRONG_VALUE or CONFIG_MISSING_SECRET, each with the file, the key and the line.
 */
export function loadConfig(source: ConfigSource): { config: Config; file: string | null } {
  const named = source.path ?? source.env.HEADWATER_CONFIG;
  const file = resolve(source.cwd, named ?? CONFIG_FILE);
  if (!named && !existsSync(file)) return { config: parseConfig('', file, source.env), file: null };
  return { config: parseConfig(readText(file), file, source.env, source.secrets), file };
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new HeadwaterError('CONFIG_NOT_FOUND', { file, reason: (error as Error).message }, { cause: error });
  }
}

/** The configuration that `text` holds; `file` is only named in errors. */
export function parseConfig(
  text: string,
  file: string,
  env: ConfigSource['env'],
  secrets: Secrets = 'required',
): Config {
  const lines = new LineCounter();
  const doc = parseDocument(text, { lineCounter: lines, uniqueKeys: true });
  const broken = doc.errors[0];
  if (broken) {
    throw new HeadwaterError('CONFIG_NOT_YAML', {
      file,
      line: lines.linePos(broken.pos[0]).line,
      reason: broken.message.split('\n')[0] ?? '',
    });
  }
  const place = (path: Path) => ({ file, line: lineOf(doc, lines, path), key: dotted(path) });
  const lookUp = { env, secrets };
  const expanded = expandSecrets(doc.toJS() ?? {}, [], lookUp, place);
  const value = Default(configSchema, expanded);
  if (!check.Check(value)) throw firstOf(problems(value), place);
  const config = value as Config;
  const found = contradictions(config);
  if (found.length > 0) throw firstOf(found, place);
  return config;
}

const dotted = (path: Path): string =>
  path.map((p, i) => (typeof p === 'number' ? `[${p}]` : `${i ? '.' : ''}${p}`)).join('') || '(the whole file)';

/** The line of the deepest node on the path that exists; a missing key is reported where its section begins. */
function lineOf(doc: Document, lines: LineCounter, path: Path): number {
  let node: unknown = doc.contents;
  let offset = 0;
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && item.key.value === step);
      if (!pair || !isScalar(pair.key)) break;
      offset = pair.key.range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[step as number];
      offset = (node as { range?: [number] | null } | undefined)?.range?.[0] ?? offset;
    } else break;
  }
  return lines.linePos(offset).line || 1;
}

type Place = (path: Path) => { file: string; line: number; key: string };

interface LookUp {
  readonly env: ConfigSource['env'];
  readonly secrets: Secrets;
}

/** Replaces `${NAME}` in every string by the environment's value. */
function expandSecrets(value: unknown, path: Path, lookUp: LookUp, place: Place): unknown {
  if (typeof value === 'string') {
    return value.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (written, variable: string) => {
      const found = lookUp.env[variable];
      if (found !== undefined && found !== '') return found;
      if (lookUp.secrets === 'optional') return written;
      throw new HeadwaterError('CONFIG_MISSING_SECRET', { ...place(path), variable });
    });
  }
  if (Array.isArray(value)) return value.map((item, i) => expandSecrets(item, [...path, i], lookUp, place));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, expandSecrets(v, [...path, k], lookUp, place)]));
}

interface Problem {
  readonly path: Path;
  readonly unknown: boolean;
  readonly reason: string;
}

const toPath = (pointer: string): Path =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step.replaceAll('~1', '/').replaceAll('~0', '~')));

const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (at, step) => (at as Readonly<Record<string | number, unknown>> | null | undefined)?.[step],
    value,
  );

/** What a branch of a union takes, out of the complaint that it was not that. */
function valuesOf({ keyword, params }: ReturnType<typeof check.Errors>[number]): readonly string[] {
  if (keyword === 'const') return [String(params.allowedValue)];
  return keyword === 'type' && params.type === 'boolean' ? ['true', 'false'] : [];
}

/** The schema's complaints in our words: a union is one complaint, an unknown key is told by its own path. */
function problems(value: unknown): readonly Problem[] {
  const errors = check.Errors(value);
  const unions = errors.filter((e) => e.keyword === 'anyOf').map((e) => e.instancePath);
  return errors.flatMap((e): Problem[] => {
    const path = toPath(e.instancePath);
    if (e.keyword === 'boolean') return [{ path, unknown: true, reason: '' }];
    if (e.keyword === 'additionalProperties') return [];
    if (e.keyword === 'anyOf') {
      const branches = errors.filter((other) => other.instancePath === e.instancePath);
      return [{ path, unknown: false, reason: `must be one of: ${branches.flatMap(valuesOf).join(', ')}` }];
    }
    if (unions.includes(e.instancePath)) return [];
    // A key with nothing behind it.
    const reason = valueAt(value, path) === null ? `is empty, ${e.message}` : e.message;
    if (e.keyword !== 'required') return [{ path, unknown: false, reason }];
    const missing = (e.params as { requiredProperties: string[] }).requiredProperties;
    return missing.map((key) => ({ path: [...path, key], unknown: false, reason: 'is missing' }));
  });
}

/** An address that names a variable which is not set is left to whoever needs it. */
function malformed(server: 'nats' | 'postgres', url: string | undefined): readonly Problem[] {
  if (url === undefined || unsetVariable(url) !== null) return [];
  const reason = addressProblem(server, url);
  return reason === null ? [] : [{ path: [server, 'url'], unknown: false, reason }];
}

/** What the schema cannot say. */
function contradictions(config: Config): readonly Problem[] {
  const names = config.providers.map((p) => p.name);
  const ofProviders = config.providers.flatMap((p, i): Problem[] => {
    const at = (key: string, reason: string): Problem => ({ path: ['providers', i, key], unknown: false, reason });
    if (names.indexOf(p.name) < i) return [at('name', `"${p.name}" names two providers`)];
    if (p.pass !== undefined && p.user === undefined) return [at('user', 'is missing beside "pass"')];
    return [];
  });
  return [...ofProviders, ...malformed('nats', config.nats.url), ...malformed('postgres', config.postgres.url)];
}

/** The problem that stands first in the file, with the number of the others. */
function firstOf(found: readonly Problem[], place: Place): HeadwaterError {
  const sorted = found.map((p) => ({ ...p, ...place(p.path) })).sort((a, b) => a.line - b.line);
  const { file, line, key, unknown, reason } = sorted[0]!;
  const fields = { file, line, key, reason, more: sorted.length - 1 };
  return new HeadwaterError(unknown ? 'CONFIG_UNKNOWN_KEY' : 'CONFIG_WRONG_VALUE', fields);
}

/**
 * The tree of the project, checked: what stands at the top, who may import whom, how big a file or function may be.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

const TOP_LEVEL = [
  '.ci',
  '.gitignore',
  '.npmrc',
  'LICENSE',
  'Makefile',
  'README.md',
  'api',
  'biome.json',
  'infra',
  'package-lock.json',
  'package.json',
  'processors',
  'projections',
  'streams',
  'test',
  'tsconfig.json',
  'vitest.config.ts',
];

/** Packages that design section 0 fixes: each is a dependency and each is used. */
const FIXED_PACKAGES = [
  'nats',
  '@nats-io/jetstream',
  'pg',
  'pg-copy-streams',
  'zstd-codec',
  'fastify',
  'prom-client',
  'vitest',
];

const FILE_LINES_MAX = 400;
const FUNCTION_LINES_MAX = 70;

/** Files that git knows or would add: an ignored folder is nobody's architecture. */
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' })
  .split('\n')
  .filter((f) => f !== '');
const sources = files.filter((f) => /\.(ts|mjs)$/.test(f) && !f.endsWith('.d.ts') && exists(f));

function exists(file: string): boolean {
  try {
    readFileSync(file);
    return true;
  } catch {
    return false;
  }
}

interface Import {
  readonly from: string;
  readonly to: string;
}

const IMPORT = /^(?:import|export)\s+(?:[\w*{},\s$]+\sfrom\s+)?'([^']+)'|\bimport\(\s*'([^']+)'/gm;

/** Imports of a file as paths in the repository (`streams/ids.ts`) or package names. */
function importsOf(file: string): readonly Import[] {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(IMPORT)].map((m) => {
    const target = m[1] ?? m[2]!;
    return { from: file, to: target.startsWith('.') ? normalize(join(dirname(file), target)) : target };
  });
}

const production = sources.filter((f) => /^(streams|processors|projections|api|infra)\//.test(f));
const imports = production.flatMap(importsOf);
const isOurs = (path: string): boolean => /^(streams|processors|projections|api|infra|test)\//.test(path);
const show = (i: Import): string => `${i.from} imports ${i.to}`;
const folderOf = (path: string): string => path.split('/').slice(0, 2).join('/');

/** Who may import what of ours. `infra/processes` is the composition root: it may import everything but tests. */
const RULES: readonly { readonly of: RegExp; readonly may: (to: string, from: string) => boolean }[] = [
  { of: /^streams\//, may: (to) => to.startsWith('streams/') },
  { of: /^processors\//, may: (to) => /^(streams|processors|infra\/base)\//.test(to) },
  { of: /^projections\//, may: (to) => /^(streams|projections|infra\/base)\//.test(to) },
  {
    of: /^api\//,
    may: (to) => /^(streams|api|infra\/base)\//.test(to) || /^projections\/([a-z]+\/rows|ports)\.ts$/.test(to),
  },
  { of: /^infra\/base\//, may: (to) => to.startsWith('infra/base/') },
  { of: /^infra\/processes\//, may: (to) => !to.startsWith('test/') },
  {
    of: /^infra\/(?!base\/|processes\/)/,
    may: (to, from) =>
      /^(streams|infra\/base)\//.test(to) ||
      /^(processors|projections)\/ports\.ts$/.test(to) ||
      folderOf(to) === folderOf(from) ||
      /^infra\/[a-z]+\/index\.ts$/.test(to),
  },
];

describe('the tree', () => {
  it('has just these names at its top', () => {
    const top = [...new Set(files.filter(exists).map((f) => f.split('/')[0]!))].sort();
    expect(top).toEqual(TOP_LEVEL);
  });

  it('is imported from right to left only', () => {
    const broken = imports.filter(({ from, to }) => {
      const rule = RULES.find((r) => r.of.test(from));
      return isOurs(to) && rule !== undefined && !rule.may(to, from);
    });
    expect(broken.map(show)).toEqual([]);
  });

  it('has a rule for every file', () => {
    const free = production.filter((f) => f.includes('/') && !RULES.some((r) => r.of.test(f)));
    expect(free).toEqual([]);
  });

  it('imports only files that are there', () => {
    const missing = imports.filter(({ to }) => isOurs(to) && !exists(to));
    expect(missing.map(show)).toEqual([]);
  });

  it('uses each of the fixed packages', () => {
    const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
    const all = [...imports, ...sources.filter((f) => f.startsWith('test/')).flatMap(importsOf)];
    for (const name of FIXED_PACKAGES) {
      expect({ ...manifest.dependencies, ...manifest.devDependencies }, name).toHaveProperty([name]);
      expect(
        all.some((i) => i.to === name || i.to.startsWith(`${name}/`)),
        name,
      ).toBe(true);
    }
    expect(manifest.dependencies.nats).toMatch(/^npm:@nats-io\/transport-node@/);
  });

  it('imports no package that package.json does not name', () => {
    const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
    const named = new Set([...Object.keys(manifest.dependencies), ...Object.keys(manifest.optionalDependencies ?? {})]);
    // The scripts of the build run where everything is installed.
    const builds = (from: string, to: string) => from.endsWith('.mjs') && packageOf(to) in manifest.devDependencies;
    const packageOf = (to: string) => (to.startsWith('@') ? to.split('/').slice(0, 2).join('/') : to.split('/')[0]!);
    const foreign = imports.filter(
      ({ from, to }) =>
        !isOurs(to) &&
        !to.startsWith('.') &&
        !to.startsWith('node:') &&
        !(named.has(packageOf(to)) || builds(from, to)),
    );
    expect(foreign.map(show)).toEqual([]);
  });
});

/** Length of every brace-delimited function body, found by matching braces outside strings and comments. */
function functionLengths(file: string): readonly { readonly at: string; readonly lines: number }[] {
  const text = blankStrings(readFileSync(file, 'utf8'));
  const starts =
    /(?:\bfunction\b[^{;=]*|=>\s*|^\s+(?:(?:async|static|get|set|override|private|readonly)\s+)*\*?#?[\w$]+\s*(?:<[^>]*>)?\([^;{}]*\)(?:\s*:\s*[^={};]+)?\s*)\{/gm;
  const found: { at: string; lines: number }[] = [];
  for (const match of text.matchAll(starts)) {
    const name = match[0].trim();
    if (/^(if|for|while|switch|catch|with)\b/.test(name)) continue;
    const open = match.index + match[0].length - 1;
    const lines = text.slice(match.index, closingBrace(text, open)).trimStart().split('\n').length;
    found.push({ at: `${file}:${text.slice(0, match.index).split('\n').length}`, lines });
  }
  return found;
}

/** The text with strings, templates, regular expressions and comments blanked, line ends kept. */
function blankStrings(text: string): string {
  const token =
    /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`|(?<=[=(,:[!&|?;{}]\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\//g;
  return text.replace(token, (m) => m.replace(/[^\n]/g, ' '));
}

function closingBrace(text: string, open: number): number {
  let depth = 0;
  for (let i = open; i < text.length; i++) {
    if (text[i] === '{') depth++;
    else if (text[i] === '}' && --depth === 0) return i;
  }
  return text.length;
}

describe('sizes', () => {
  it(`no file is longer than ${FILE_LINES_MAX} lines`, () => {
    const long = sources.map((f) => ({ f, n: readFileSync(f, 'utf8').split('\n').length - 1 }));
    expect(long.filter((x) => x.n > FILE_LINES_MAX).map((x) => `${x.f}: ${x.n}`)).toEqual([]);
  });

  it(`no function of the product is longer than ${FUNCTION_LINES_MAX} lines`, () => {
    const long = production.flatMap(functionLengths).filter((x) => x.lines > FUNCTION_LINES_MAX);
    expect(long.map((x) => `${x.at}: ${x.lines}`)).toEqual([]);
  });

  it('finds a function that is too long (the measure itself works)', () => {
    const lengths = functionLengths('test/architecture.test.ts').map((x) => x.lines);
    expect(lengths.length).toBeGreaterThan(5);
    expect(Math.max(...lengths)).toBeGreaterThan(15);
  });
});

describe('what the repository must not say', () => {
  it('names no absolute path of a machine and no registry', () => {
    const forbidden = /\/(?:work|root|home)\/[a-z]|registry\.npmjs|deb\.debian\.org|"resolved":/;
    const texts = files.filter(
      (f) => exists(f) && /\.(ts|mjs|js|json|md|sql|yaml|sh|conf)$|^Makefile$|^\.ci\//.test(f),
    );
    const bad = texts.filter((f) => f !== 'test/architecture.test.ts' && forbidden.test(readFileSync(f, 'utf8')));
    expect(bad).toEqual([]);
  });
});

// Puts packages that consist of hundreds of small files into dist/node_modules as a few files, where the compiled tree finds them
// before the installed ones. Every process of Headwater loads them at its start: reading typebox file by file takes longer than
// everything else together.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

/** The entries of each package that the sources import; one build for each, so that they share their state. */
const PACKAGES = { typebox: ['typebox', 'typebox/compile', 'typebox/value', 'typebox/system'] };

const nameOf = (entry) => entry.split('/')[1] ?? 'index';

for (const [name, entries] of Object.entries(PACKAGES)) {
  const folder = join('dist/node_modules', name);
  mkdirSync(folder, { recursive: true });
  await build({
    entryPoints: entries.map((entry) => ({ in: entry, out: nameOf(entry) })),
    outdir: folder,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'warning',
  });
  const { version, license } = JSON.parse(readFileSync(join('node_modules', name, 'package.json'), 'utf8'));
  const exports = Object.fromEntries(entries.map((entry) => [`.${entry.slice(name.length)}`, `./${nameOf(entry)}.js`]));
  writeFileSync(
    join(folder, 'package.json'),
    `${JSON.stringify({ name, version, license, type: 'module', exports })}\n`,
  );
}

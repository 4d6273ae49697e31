/**
 * Writes the golden files that do not exist yet: `<codec>-v<version>.bin` and the value it must decode to, as JSON.
 * An existing file is never touched: it stands for payloads that are stored somewhere. Run: npx tsx test/kit/writeGolden.ts
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { initCompression } from '../../streams/codec/compression.ts';
import { GOLDEN_CODECS, toExpected } from './goldenCodecs.ts';

const folder = new URL('../fixtures/golden/', import.meta.url);
mkdirSync(folder, { recursive: true });
await initCompression();
for (const { name, version, sample, encode } of GOLDEN_CODECS) {
  const file = new URL(`${name}-v${version}.bin`, folder);
  if (existsSync(file)) continue;
  const value = sample();
  writeFileSync(file, encode(value as never));
  writeFileSync(new URL(`${name}-v${version}.json`, folder), `${JSON.stringify(toExpected(value), null, 1)}\n`);
  console.log(`wrote ${name}-v${version}`);
}

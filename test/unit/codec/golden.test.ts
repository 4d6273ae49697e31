import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { initCompression } from '../../../streams/codec/compression.ts';
import { GOLDEN_CODECS, toExpected } from '../../kit/goldenCodecs.ts';

const folder = new URL('../../fixtures/golden/', import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith('.bin'));

beforeAll(initCompression);

describe('golden files', () => {
  it.each(files)('%s decodes to the value it was made from', (name) => {
    const codec = GOLDEN_CODECS.find((c) => name.startsWith(`${c.name}-v`));
    const expected: unknown = JSON.parse(readFileSync(new URL(name.replace(/bin$/, 'json'), folder), 'utf8'));
    expect(toExpected(codec!.decode(readFileSync(new URL(name, folder))))).toEqual(expected);
  });

  it.each(GOLDEN_CODECS.map((c) => `${c.name}-v${c.version}.bin`))('there is a %s, the version now written', (name) => {
    expect(files).toContain(name);
    const codec = GOLDEN_CODECS.find((c) => name.startsWith(`${c.name}-v`))!;
    expect(codec.encode(codec.sample() as never)[0]).toBe(codec.version);
  });
});

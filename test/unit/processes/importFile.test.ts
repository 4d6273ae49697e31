import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseConfig } from '../../../infra/config/index.ts';
import { importOverviewCommand, resultLines } from '../../../infra/processes/commands/importOverview.ts';
import { unpackedFile } from '../../../infra/processes/commands/unpackedFile.ts';

const text = Buffer.from('1\ta\tb\r\n'.repeat(200_000));
let folder: string;
const path = (name: string) => join(folder, name);
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'hw-import-'));
  const packed = gzipSync(text);
  writeFileSync(path('plain.tsv'), text);
  writeFileSync(path('packed.tsv.gz'), packed);
  writeFileSync(path('cut.tsv.gz'), packed.subarray(0, packed.length / 2));
  writeFileSync(path('misnamed.tsv'), packed);
  writeFileSync(path('misnamed.gz'), text);
});
afterAll(() => rmSync(folder, { recursive: true }));

async function read(name: string): Promise<{ bytes: Buffer; fileBytes: number }> {
  const pieces: Buffer[] = [];
  let fileBytes = 0;
  for await (const piece of unpackedFile(path(name), (n) => (fileBytes += n))) pieces.push(piece);
  return { bytes: Buffer.concat(pieces), fileBytes };
}

describe('the end of an import', () => {
  const result = { lines: 0, bytes: 0, ranges: 0, known: 0, unnumbered: 0, cut: false };

  it('warns of a file that is empty', () => {
    expect(resultLines('a.tsv', 'alt.a', result, 1000)).toEqual(['warning: a.tsv holds no line: nothing was imported']);
  });

  it('tells its rate, what is new, what was known, and lines without a number', () => {
    const lines = resultLines('a.tsv', 'alt.a', { ...result, lines: 5000, ranges: 2, known: 1, unnumbered: 3 }, 1000);
    expect(lines).toEqual([
      '5,000 lines, 5,000 lines/s, 2 new ranges, 1 range imported before',
      'warning: 3 lines had no article number',
      'once it is parsed, `headwater ranges list --group alt.a` shows how many lines were kept, and why others were not',
    ]);
  });

  it('warns of a file that was cut in the middle of a line', () => {
    const lines = resultLines('a.tsv', 'alt.a', { ...result, lines: 5, ranges: 1, cut: true }, 1000);
    expect(lines[1]).toBe('warning: the last line of a.tsv has no end and too few fields: the file was probably cut');
  });
});

describe('a file of overview lines', () => {
  it.each(['plain.tsv', 'packed.tsv.gz', 'misnamed.tsv', 'misnamed.gz'])(
    '%s gives its lines and counts its own bytes',
    async (name) => {
      const { bytes, fileBytes } = await read(name);
      expect(bytes.equals(text)).toBe(true);
      expect(fileBytes).toBeGreaterThan(0);
    },
  );

  it.each(['cut.tsv.gz', 'missing.tsv'])('%s is refused by name', async (name) => {
    await expect(read(name)).rejects.toThrow(new RegExp(`IMPORT_FILE_UNREADABLE.*${name}`));
  });

  it('is looked for before anything is connected to', async () => {
    const context = {
      config: parseConfig('', 'f', {}),
      configFile: null,
      env: {},
      print() {},
      signal: new AbortController().signal,
      isTerminal: false,
    };
    const options = { group: 'alt.a', backbone: 'x' };
    expect(() => importOverviewCommand(context, path('missing.tsv'), options)).toThrow(/IMPORT_FILE_UNREADABLE/);
    expect(() => importOverviewCommand(context, path('plain.tsv'), { ...options, backbone: 'X Y' })).toThrow(
      /USAGE_WRONG_VALUE/,
    );
  });
});

import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byteLines, type Explainable, explainCommand } from '../../../infra/processes/commands/explain.ts';

async function explained(what: Explainable, input: Buffer, json = true): Promise<string[]> {
  const lines: string[] = [];
  await explainCommand(what, { json, input: Readable.from([input]), print: (line) => lines.push(line) });
  return lines;
}

const corpus = (name: string): Record<string, unknown>[] =>
  readFileSync(`test/fixtures/${name}`, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('explain line', () => {
  it('prints the fields of the corpus, or why a line is skipped', async () => {
    // A line end inside a line cannot be given on standard input.
    const cases = corpus('overview-lines.jsonl').filter(
      (c) => !Buffer.from(c.line_base64 as string, 'base64').includes(10),
    );
    const input = Buffer.concat(
      cases.flatMap((c) => [Buffer.from(c.line_base64 as string, 'base64'), Buffer.from('\r\n')]),
    );
    const results = (await explained('line', input)).map((line) => JSON.parse(line));
    expect(results).toHaveLength(cases.length);
    const trimmed = (o: object) =>
      Object.fromEntries(Object.entries(o).map(([k, v]) => [k, typeof v === 'string' ? v.trim() : v]));
    cases.forEach((c, i) => {
      const right = c.expect ?? { expect_reject: c.expect_reject };
      expect(trimmed(results[i]), String(c.id)).toEqual(trimmed(right as object));
    });
  });
});

describe('explain subject', () => {
  it('prints one result a line with the keys of the corpus and the rule that decided', async () => {
    const [result] = await explained('subject', Buffer.from('[01/24] - "Some.Show.S01E02-GRP.r01" yEnc (3/50)\n'));
    expect(JSON.parse(result!)).toEqual({
      file_name: 'Some.Show.S01E02-GRP.r01',
      part: 3,
      parts: 50,
      file_index: 1,
      file_total: 24,
      release_base: 'Some.Show.S01E02-GRP',
      yenc: true,
      kind: 'readable',
      rule: expect.stringMatching(/^.+\/.+\/.+$/),
    });
  });

  it('is readable by people without --json', async () => {
    const [line] = await explained('subject', Buffer.from('hello there'), false);
    expect(line).toContain('file_name=-');
    expect(line).toContain('kind="text"');
  });
});

describe('the lines of a stream', () => {
  it('are the same wherever the pieces are cut', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 8 }), { maxLength: 8 }), async (pieces) => {
        const whole = Buffer.concat(pieces);
        const read = async (input: Buffer[]) => {
          const lines: string[] = [];
          for await (const line of byteLines(Readable.from(input))) lines.push(line.toString('hex'));
          return lines;
        };
        expect(await read(pieces.map((p) => Buffer.from(p)))).toEqual(await read([whole]));
      }),
    );
  });
});

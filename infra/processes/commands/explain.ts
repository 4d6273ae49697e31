import type { Readable } from 'node:stream';
import { readLine } from '../../../processors/headers/lines.ts';
import { readSubject } from '../../../processors/headers/subject.ts';
import { EXIT, type ExitCode } from '../exitCodes.ts';

/** What the core makes of a piece of input, by the names that the corpus files use. */
export type Explanation = Readonly<Record<string, string | number | boolean | null>>;

/** A subject as its bytes came from the wire: what it announces, and which rules said so. */
export function explainSubject(bytes: Uint8Array): Explanation {
  const r = readSubject(bytes);
  return {
    file_name: r.fileName,
    part: r.part,
    parts: r.parts,
    file_index: r.fileIndex,
    file_total: r.fileTotal,
    release_base: r.releaseBase,
    yenc: r.yenc,
    kind: r.kind,
    rule: r.rule,
  };
}

/** ISO 8601 to the second, null where the date cannot be read. */
const isoOf = (ms: number | null): string | null =>
  ms === null ? null : `${new Date(ms).toISOString().slice(0, 19)}Z`;

/** An overview line without its line end: its fields, or why it is skipped. */
export function explainLine(bytes: Uint8Array): Explanation {
  const reading = readLine(bytes);
  if (!reading.ok) return { expect_reject: reading.reason };
  const { article, subject, from, date, messageId, bytes: size, lines, xref } = reading.line;
  return { article, subject, from, date_iso: isoOf(date), message_id: messageId, bytes: size, lines, xref };
}

const EXPLAINERS = { subject: explainSubject, line: explainLine } as const;
export type Explainable = keyof typeof EXPLAINERS;

const LF = 10;
const CR = 13;

/** The lines of a stream as bytes: decoding them first would hide what the core has to deal with. */
export async function* byteLines(input: AsyncIterable<Buffer | string>): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0);
  const trimmed = (line: Buffer): Buffer => (line.at(-1) === CR ? line.subarray(0, -1) : line);
  for await (const piece of input) {
    rest = Buffer.concat([rest, typeof piece === 'string' ? Buffer.from(piece) : piece]);
    for (let at = rest.indexOf(LF); at >= 0; at = rest.indexOf(LF)) {
      yield trimmed(rest.subarray(0, at));
      rest = rest.subarray(at + 1);
    }
  }
  if (rest.length > 0) yield trimmed(rest);
}

const forPeople = (e: Explanation): string =>
  Object.entries(e)
    .map(
      ([name, value]) => `${name}=${value === null ? '-' : typeof value === 'string' ? JSON.stringify(value) : value}`,
    )
    .join('  ');

/** `explain subject|line`: one result a line of standard input. Needs nothing that runs. */
export async function explainCommand(
  what: Explainable,
  options: { json: boolean; input: Readable; print: (line: string) => void },
): Promise<ExitCode> {
  for await (const line of byteLines(options.input)) {
    const explained = EXPLAINERS[what](line);
    options.print(options.json ? JSON.stringify(explained) : forPeople(explained));
  }
  return EXIT.ok;
}

import { HeadwaterError } from '../../infra/base/errors/index.ts';

/** No overview line of a server comes near it. */
const LINE_BYTES_MAX = 1_000_000;
const LF = 10;

/**
 * The bytes of a file in pieces that are whole lines. A last line without an end gets one, so that a cut file loses
 * nothing; `onUnended` hears of it first. Throws IMPORT_LINE_TOO_LONG.
 */
export async function* wholeLines(
  bytes: AsyncIterable<Buffer>,
  onUnended: (line: Buffer) => void = () => {},
): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  let restBytes = 0;
  let lines = 0;
  for await (const piece of bytes) {
    const end = piece.lastIndexOf(LF) + 1;
    if (end > 0) {
      const whole = Buffer.concat([...rest, piece.subarray(0, end)]);
      for (let at = whole.indexOf(LF); at >= 0; at = whole.indexOf(LF, at + 1)) lines++;
      rest = [];
      restBytes = 0;
      yield whole;
    }
    if (end === piece.length) continue;
    rest.push(piece.subarray(end));
    restBytes += piece.length - end;
    if (restBytes > LINE_BYTES_MAX)
      throw new HeadwaterError('IMPORT_LINE_TOO_LONG', { line: lines + 1, limit: LINE_BYTES_MAX });
  }
  if (restBytes === 0) return;
  onUnended(Buffer.concat(rest));
  yield Buffer.concat([...rest, Buffer.from('\n')]);
}

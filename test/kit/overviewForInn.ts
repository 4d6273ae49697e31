import { createHash } from 'node:crypto';

/** INN keeps article numbers in 32 bits: higher ones come out wrong. */
const HIGHEST = 2_147_483_647;
const LINES_A_BLOCK = 1000;

/** A storage token that belongs to no article: its number and group, so that no two lines share one. */
function tokenPrefix(group: string): { readonly head: string; readonly tail: string } {
  const digest = createHash('sha256').update(group).digest('hex').toUpperCase();
  return { head: '@03000000', tail: `${digest.slice(0, 20)}@` };
}

const hex8 = (n: number): string => n.toString(16).toUpperCase().padStart(8, '0');

/**
 * Turns overview lines (number first, as `generateOverview` or a server gives them) into blocks of lines for
 * `Inn.overchan`: token, arrival, expiry, then the fields without the number, which INN takes from Xref. Every group
 * that Xref names must exist in that INN, and Xref must be the ninth field. Throws RangeError for numbers beyond INN's.
 *
 *   await inn.addGroup('alt.binaries.example');
 *   await inn.overchan(overviewForInn('alt.binaries.example',
 *     generateOverview({ lines: 200_000, group: 'alt.binaries.example', first: 1, crossGroups: [] })));
 */
export function* overviewForInn(group: string, lines: Iterable<string>): Generator<string, void, undefined> {
  const { head, tail } = tokenPrefix(group);
  let block: string[] = [];
  for (const line of lines) {
    const tab = line.indexOf('\t');
    const number = Number(line.slice(0, tab));
    if (!(number >= 1 && number <= HIGHEST)) throw new RangeError(`INN has no article number ${number}`);
    // The arrival time only matters for expiry, which the test INN does not do.
    block.push(`${head}${hex8(number)}${tail} 1767225600 0 ${line.slice(tab + 1)}\n`);
    if (block.length < LINES_A_BLOCK) continue;
    yield block.join('');
    block = [];
  }
  if (block.length > 0) yield block.join('');
}

import { describe, expect, it } from 'vitest';
import type { NatsClient } from '../../../infra/processes/commands/client.ts';
import { isIndexed } from '../../../infra/processes/up/loadSample.ts';
import type { Database } from '../../../projections/ports.ts';

/** A database with these ranges by state, and one projection at this position of a stream that ends at 5. */
function world(ranges: Record<string, number>, sequence: number): [Database, NatsClient] {
  const query = (text: string) =>
    Promise.resolve(
      /from ranges\.range/.test(text)
        ? Object.entries(ranges).map(([state, n]) => ({ state, n }))
        : [{ name: 'catalog', family: 'RELEASES', version: 1, number: 1, sequence }],
    );
  const reader = { state: () => Promise.resolve({ last: { number: 1, sequence: 5 } }) };
  return [{ query } as unknown as Database, { reader } as unknown as NatsClient];
}

describe('the sample is indexed', () => {
  it.each([
    ['not while a range is planned', { planned: 1, parsed: 2 }, 5, false],
    ['not while a range waits to be parsed', { fetched: 1 }, 5, false],
    ['not while a projection is behind', { parsed: 3 }, 4, false],
    ['once all is parsed and projected', { parsed: 1, short: 2 }, 5, true],
  ])('%s', async (_title, ranges, sequence, done) => {
    expect(await isIndexed(...world(ranges, sequence))).toBe(done);
  });

  it('never when a range of it failed: that is said, and no empty search is called ready', async () => {
    await expect(isIndexed(...world({ failed: 1, parsed: 2 }, 5))).rejects.toThrow(/SAMPLE_FAILED.*1 ranges/);
  });
});

import { describe, expect, it } from 'vitest';
import { preferenceOf, projectProbes } from '../../../projections/probes/project.ts';
import { PROBE_KINDS } from '../../../streams/records.ts';
import { candidate, candidates, settledAs, settlement } from '../../kit/probeEvents.ts';
import { DAY, keyOf, opened, seen, stored, T0 } from '../../kit/releaseEvents.ts';

describe('the preference of a candidate', () => {
  it('puts random names before readable ones, whatever the kind, then goes by kind', () => {
    const all = [true, false].flatMap((random) => PROBE_KINDS.map((kind) => preferenceOf({ random, kind })));
    expect(all).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });
});

describe('a batch of RELEASES in the probe queue', () => {
  it('drops what an earlier message of the batch replaced, and ends with the highest pair', () => {
    const rows = projectProbes(
      stored([
        opened(),
        candidates({}, [candidate('a')]),
        opened({ run: 2 }),
        candidates({}, [candidate('b')], 1),
        candidates({ run: 2 }, [candidate('c')]),
        seen({ run: 2 }, []),
      ]),
    );
    expect(rows.stage_probes_source).toEqual([[0, 'bb', 'alt.binaries.test', 0, 1, 1000, 2, 1]]);
    // That of the first run is left to merge.sql, which keeps the pair that the batch ends with.
    expect(rows.stage_probes_candidate?.map((row) => [row[4], row[6]])).toEqual([
      [1, keyOf('a')],
      [2, keyOf('c')],
    ]);
  });

  it('numbers the settlements of a message, so that of two in one the second is the later', () => {
    const rows = projectProbes(stored([settledAs([settlement('a'), settlement('b', T0, T0 - DAY)])], 7));
    expect(rows.stage_probes_settled?.map(([, n, key, from, to]) => [n, key, from, to])).toEqual([
      [0, keyOf('a'), T0, T0],
      // Never before its first article.
      [1, keyOf('b'), T0, T0],
    ]);
  });

  it('leaves out an id that no server can be asked for', () => {
    const rows = projectProbes(stored([candidates({}, [candidate('a', { id: 'x\0y@z' }), candidate('b')])]));
    expect(rows.stage_probes_candidate?.map((row) => row[10])).toEqual(['b@x']);
  });
});

import { describe, expect, it } from 'vitest';
import { openFrame } from '../../../processors/fetch/frame.ts';
import { type ImportProgress, importOverview } from '../../../processors/import/overviewFile.ts';
import { DEFAULT_IMPORT_SETTINGS, type ImportSettings } from '../../../processors/import/settings.ts';
import { controlGarbage } from '../../../streams/events/control.ts';
import { makeEvent } from '../../../streams/events/index.ts';
import { rangeFailed, rangeParsed } from '../../../streams/events/ranges.ts';
import { Backbone, EpochMs, Group } from '../../../streams/ids.ts';
import { overviewLine } from '../../kit/memoryArticles.ts';
import { listEntry, type ProcessorWorld, processorWorld, putList } from '../../kit/processorWorld.ts';
import { pass, passUntil } from '../../kit/timePasses.ts';

const group = Group('a.b');
const backbone = Backbone('local');
const settings: ImportSettings = {
  ...DEFAULT_IMPORT_SETTINGS,
  rangeLines: 300,
  batch: { lines: 100, rawBytes: 3_000_000 },
};

async function* pieces(text: string, size: number) {
  const bytes = Buffer.from(text, 'latin1');
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
const linesOf = (numbers: Iterable<number>) => [...numbers].map((n) => `${overviewLine(n, 'a.b')}\n`).join('');
function* upTo(hi: number, lo = 1) {
  for (let n = lo; n <= hi; n++) yield n;
}
const run = (
  world: ProcessorWorld,
  text: string,
  own = settings,
  size = 1000,
  onProgress?: (p: ImportProgress) => void,
) =>
  importOverview(
    { bytes: pieces(text, size), group, backbone, ...(onProgress ? { onProgress } : {}) },
    world,
    new AbortController().signal,
    own,
  );
const stored = (world: ProcessorWorld) =>
  world.events
    .events('OVERVIEW', 'overview.batch')
    .map(({ data }) => openFrame(data.body).raw.toString('latin1'))
    .join('');
const fetched = (world: ProcessorWorld) => world.events.events('RANGES', 'range.fetched').map(({ data }) => data);
const sizes = (world: ProcessorWorld) =>
  (['CONTROL', 'RANGES', 'OVERVIEW'] as const).map((family) => world.events.stream(family).last);
const parseAll = async (world: ProcessorWorld) => {
  for (const { batches, listVersion, garbageVersion, rawBytes, firstAt, lastAt, ...data } of fetched(world)) {
    const counts = { kept: 0, skipped: {}, releases: 0, files: 0, segments: 0, pass: 1 };
    const at = { number: 1, sequence: batches.length + listVersion + garbageVersion + rawBytes };
    const positions = { releasesPosition: at, chunksPosition: at };
    await world.events.append(
      makeEvent(rangeParsed, EpochMs(Number(firstAt) + Number(lastAt)), { ...data, ...counts, ...positions }),
    );
  }
};

describe('importing an overview file', () => {
  const whole = linesOf(upTo(3));
  it.each([
    ['ends with a line end', whole, false],
    ['lacks nothing but its last line end', whole.slice(0, -1), false],
    ['ends in the middle of a line', whole.slice(0, -60), true],
    ['ends behind a line end', linesOf(upTo(2)), false],
  ])('tells whether it was cut: one that %s', async (_, text, cut) => {
    for (const size of [7, 10_000]) expect((await run(processorWorld(), text, settings, size)).cut).toBe(cut);
  });

  it('brings every line into ranges of lane import, and lists the group with all numbers', async () => {
    const world = processorWorld();
    const text = linesOf(upTo(1000, 51));
    const result = await run(world, text);
    expect(result).toMatchObject({ lines: 950, ranges: 4, known: 0, unnumbered: 0, bytes: text.length });
    expect(stored(world)).toBe(text);
    const list = await world.groupLists.current();
    expect(list).toMatchObject({ origin: 'import', listVersion: 1 });
    expect(list!.entries).toMatchObject([
      { group, rank: 1, backfill: { kind: 'none' }, spans: [{ backbone, from: 1, liveFrom: 1, to: null }] },
    ]);
    expect(fetched(world).map(({ lane, lo, hi, lines, missing }) => [lane, lo, hi, lines, missing])).toEqual([
      ['import', 51, 350, 300, []],
      ['import', 351, 650, 300, []],
      ['import', 651, 950, 300, []],
      ['import', 951, 1000, 50, []],
    ]);
    expect(fetched(world)[0]!.batches.map(({ lo, hi }) => [lo, hi])).toEqual([
      [51, 150],
      [151, 250],
      [251, 350],
    ]);
  });

  it('keeps the list as it is where the group is listed, and the ranks of the others', async () => {
    const world = processorWorld();
    await putList(world, [listEntry('other', 7, { kind: 'all' })]);
    await run(world, linesOf(upTo(10)));
    await run(world, linesOf(upTo(20, 11)));
    const list = await world.groupLists.current();
    expect(list!.listVersion).toBe(2);
    expect(list!.entries.map(({ group: g, rank }) => [g, rank])).toEqual([
      ['other', 7],
      ['a.b', 8],
    ]);
  });

  it('cuts the same ranges however the bytes come in pieces', async () => {
    const text = linesOf([...upTo(400), ...upTo(5_000_100, 5_000_000)]);
    const ranges: unknown[] = [];
    for (const size of [7, 64, 4096, 1 << 20]) {
      const world = processorWorld();
      await run(world, text, settings, size);
      ranges.push(
        fetched(world).map(({ rangeId, batches }) => [rangeId, batches.map(({ lo, hi, lines }) => [lo, hi, lines])]),
      );
    }
    for (const other of ranges.slice(1)) expect(other).toEqual(ranges[0]);
    expect(ranges[0]).toHaveLength(3);
  });

  it('has no effect the second time, neither inside the window for repeats nor long after it', async () => {
    const world = processorWorld();
    const text = linesOf(upTo(1000));
    await run(world, text);
    const before = sizes(world);
    expect(await run(world, text)).toMatchObject({ ranges: 0, known: 4 });
    await parseAll(world);
    for (const held of await world.events.held()) await world.events.purge(held);
    const parsedSizes = sizes(world);
    await pass(world.clock, 3_600_000, 600_000);
    expect(await run(world, text)).toMatchObject({ ranges: 0, known: 4 });
    expect(sizes(world)).toEqual(parsedSizes);
    expect(before[2]).toBe(parsedSizes[2]);
  });

  it('goes on where it died, wherever that was, and ends with the same events', async () => {
    const text = linesOf([...upTo(500), ...upTo(900, 601)]);
    const calm = processorWorld();
    await run(calm, text);
    const appends = sizes(calm).reduce((sum, n) => sum + n, 0);
    for (let crashAt = 0; crashAt < appends; crashAt++) {
      const world = processorWorld();
      const append = world.events.append.bind(world.events);
      let left = crashAt;
      const sink = {
        append: async (...args: Parameters<typeof append>) => {
          if (left-- === 0) throw new Error('the process dies here');
          return await append(...args);
        },
      };
      await expect(run({ ...world, sink } as unknown as ProcessorWorld, text)).rejects.toThrow('dies here');
      // Long enough for the stream to have forgotten what a repeat is.
      await pass(world.clock, 3_600_000, 1_800_000);
      await run(world, text);
      expect(fetched(world)).toEqual(fetched(calm));
      expect(stored(world)).toBe(text);
      expect(sizes(world)).toEqual(sizes(calm));
    }
  });

  it('tries what failed anew as the next run, and only that', async () => {
    const world = processorWorld();
    const text = linesOf(upTo(600));
    await run(world, text);
    const { batches, listVersion, garbageVersion, rawBytes, firstAt, lastAt, lines, missing, ...range } =
      fetched(world)[1]!;
    const failure = {
      origin: 'headers' as const,
      stage: 'parse' as const,
      class: 'error' as const,
      code: 'X',
      message: 'x',
    };
    await world.events.append(makeEvent(rangeFailed, EpochMs(1000), { ...range, ...failure }));
    expect(await run(world, text)).toMatchObject({ ranges: 1, known: 1 });
    expect(fetched(world).map(({ rangeId, run: n }) => [rangeId, n])).toEqual([
      ['0-1-300', 1],
      ['0-301-600', 1],
      ['0-301-600', 2],
    ]);
    expect(await run(world, text)).toMatchObject({ ranges: 0, known: 2 });
  });

  it('names the garbage table that holds when a range is planned', async () => {
    const world = processorWorld();
    await run(world, linesOf(upTo(10)));
    const table = { origin: 'operator' as const, garbageVersion: 1, signatures: [] };
    await world.events.append(makeEvent(controlGarbage, EpochMs(1000), table));
    await run(world, linesOf(upTo(20, 11)));
    expect(fetched(world).map(({ garbageVersion }) => garbageVersion)).toEqual([0, 1]);
  });

  it('passes broken lines and a cut last line on, for the parser counts them', async () => {
    const world = processorWorld();
    const text = `header without number\n${linesOf([5])}broken\n${linesOf([6])}7\tcut in the mid`;
    const result = await run(world, text);
    expect(result).toMatchObject({ lines: 5, unnumbered: 2 });
    expect(stored(world)).toBe(`${text}\n`);
    expect(fetched(world)).toMatchObject([{ lo: 5, hi: 7, lines: 5 }]);
  });

  it('allows equal numbers and keeps them in one range', async () => {
    const world = processorWorld();
    const numbers = [...upTo(300), 300, 300, 301];
    await run(world, linesOf(numbers));
    expect(fetched(world).map(({ lo, hi, lines }) => [lo, hi, lines])).toEqual([
      [1, 300, 302],
      [301, 301, 1],
    ]);
  });

  it('refuses articles that do not ascend (IMPORT_NOT_ASCENDING), naming the line', async () => {
    const world = processorWorld();
    const failure = await run(world, linesOf([1, 2, 9, 4])).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'IMPORT_NOT_ASCENDING', fields: { line: 4, number: 4, before: 9 } });
    expect(sizes(world)).toEqual([0, 0, 0]);
  });

  it('refuses a file without article numbers (IMPORT_NO_NUMBERS) and one that has no lines (IMPORT_LINE_TOO_LONG)', async () => {
    const world = processorWorld();
    await expect(run(world, 'one\ntwo\n')).rejects.toMatchObject({ code: 'IMPORT_NO_NUMBERS', fields: { lines: 2 } });
    await expect(run(world, 'x\n'.repeat(20_000))).rejects.toMatchObject({ code: 'IMPORT_NO_NUMBERS' });
    const endless = 'x'.repeat(1_200_000);
    await expect(run(world, endless, settings, 100_000)).rejects.toMatchObject({ code: 'IMPORT_LINE_TOO_LONG' });
    expect(sizes(world)).toEqual([0, 0, 0]);
    expect(await run(world, '')).toMatchObject({ lines: 0, ranges: 0 });
  });

  it('refuses a file that has grown, or was cut elsewhere: its articles would count twice (IMPORT_OVERLAPS)', async () => {
    const world = processorWorld();
    await run(world, linesOf(upTo(250)));
    const before = sizes(world);
    await expect(run(world, linesOf(upTo(270)))).rejects.toMatchObject({ code: 'IMPORT_OVERLAPS' });
    await expect(run(world, linesOf([...upTo(250)].slice(30)))).rejects.toMatchObject({ code: 'IMPORT_OVERLAPS' });
    expect(sizes(world)).toEqual(before);
    expect(await run(world, linesOf(upTo(250)))).toMatchObject({ ranges: 0 });
  });

  it('refuses another file whose ranges have the names of a half imported one (IMPORT_OTHER_CONTENT)', async () => {
    const world = processorWorld();
    const append = world.events.append.bind(world.events);
    const sink = {
      append: async (...args: Parameters<typeof append>) => {
        if (args[0].type === 'range.fetched') throw new Error('the process dies here');
        return await append(...args);
      },
    };
    const half = { ...world, sink } as unknown as ProcessorWorld;
    await expect(run(half, linesOf(upTo(250)))).rejects.toThrow('dies here');
    const other = linesOf(upTo(250)).replaceAll('poster', 'another poster');
    await expect(run(world, other)).rejects.toMatchObject({ code: 'IMPORT_OTHER_CONTENT' });
  });

  it('gives up with GROUP_LIST_CONTENDED when others change the list faster than it can', async () => {
    const world = processorWorld();
    world.events.failNext('conflict', 20, 'control.groups');
    await expect(run(world, linesOf([1]))).rejects.toMatchObject({ code: 'GROUP_LIST_CONTENDED', retriable: true });
    expect(await run(world, linesOf([1]))).toMatchObject({ ranges: 1 });
  });

  it('reports its progress', async () => {
    const world = processorWorld();
    const seen: ImportProgress[] = [];
    const text = linesOf(upTo(1000));
    await run(world, text, settings, 10_000, (progress) => seen.push(progress));
    expect(seen.at(-1)).toEqual({ lines: 1000, bytes: text.length, ranges: 4, known: 0 });
    expect(seen.length).toBeGreaterThan(10);
  });

  it('waits while too many of its ranges wait to be parsed', async () => {
    const world = processorWorld();
    let ended = false;
    const importing = run(world, linesOf(upTo(3000)), { ...settings, outstandingRanges: 2 }).then(() => {
      ended = true;
    });
    await passUntil(world.clock, 'two ranges', () => fetched(world).length === 2);
    await pass(world.clock, 60_000, 1000);
    expect(fetched(world)).toHaveLength(2);
    await passUntil(world.clock, 'the rest', async () => {
      await parseAll(world);
      return ended;
    });
    await importing;
    expect(fetched(world)).toHaveLength(10);
  });
});

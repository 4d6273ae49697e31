/** Made-up events of fragments: pieces, lone blobs and merges, short to write; and whole random histories of them. */
import fc from 'fast-check';
import { FragmentsState, type PlacedUnit } from '../../projections/fragments/step.ts';
import type { Unit } from '../../projections/fragments/units.ts';
import { packLone } from '../../streams/codec/fragments.ts';
import { encodeMerges } from '../../streams/codec/merges.ts';
import { EVENTS, type HeadwaterEvent, makeEvent } from '../../streams/events/index.ts';
import { ArticleNumber, EpochMs, Group, type Position } from '../../streams/ids.ts';
import { mergesDigest } from '../../streams/merges.ts';
import type { Fragments, Interval, Merge, Piece } from '../../streams/records.ts';
import { contribution, DAY, keyOf, opened, type PassOptions, passFields, T0 } from './releaseEvents.ts';

/** The hash of the file with this name: 16 hex digits. */
export const fileHashOf = (name: string): string => keyOf(`file ${name}`).slice(0, 16);

export interface PieceOptions extends Partial<Omit<Piece, 'key' | 'fileHash' | 'groups'>> {
  /** Days after T0 at which all of it was posted. */
  readonly day?: number;
}

/** A piece of the file `name` at one article number, part 1 of 3 when nothing else is said. */
export function piece(name: string, number: number, { day = 0, ...o }: PieceOptions = {}): Piece {
  const at = EpochMs(T0 + day * DAY);
  const numbers = { firstNumber: ArticleNumber(number), lastNumber: ArticleNumber(number) };
  const times = { firstAt: at, lastAt: at, postingFirstAt: at, postingLastAt: at };
  const parts: readonly Interval[] = o.parts ?? [[1, 1]];
  const segments = parts.reduce((sum, [lo, hi]) => sum + hi - lo + 1, 0);
  return {
    key: keyOf(name),
    fileHash: fileHashOf(name),
    posting: 0,
    name,
    poster: 'poster@example.com',
    obfuscated: false,
    filesTotal: null,
    par2: false,
    nfo: false,
    lone: false,
    groups: [Group('alt.binaries.test')],
    ...numbers,
    ...times,
    totals: [[3, segments]],
    segments,
    bytes: 100 * segments,
    payload: Buffer.from(`${name} ${number}`),
    ...o,
    parts,
  };
}

export const lonePiece = (name: string, number: number, part: number, o: PieceOptions = {}): Piece =>
  piece(name, number, { obfuscated: true, lone: true, parts: [[part, part]], ...o });

export const fragmentsOf = (o: PassOptions, { pieces = [], lone = [] }: Partial<Fragments>, k = 0): HeadwaterEvent =>
  makeEvent(EVENTS['release.fragments'], T0, { ...passFields(o), k, body: { pieces, lone } });

/** A merge of these units' pieces as the fragments processor would append it. */
export function mergedOf(
  o: PassOptions,
  revision: Position,
  units: readonly Pick<PlacedUnit, 'mergeId' | 'fileHash' | 'pieces'>[],
) {
  const { backbone, group, epoch } = passFields(o);
  const body = units.map(({ mergeId, fileHash, pieces }): Merge => {
    const sources = pieces.map(({ rangeId, run, pass, posting }) => ({ rangeId, run, pass, posting }));
    return { mergeId, fileHash, sources, contribution: contribution(fileHash, { fileHashes: [fileHash] }) };
  });
  const digest = mergesDigest(revision, encodeMerges(body));
  return makeEvent(EVENTS['release.merged'], T0, { backbone, group, epoch, revision, digest, body });
}

const unitLine = (u: Unit): string =>
  [
    ...[u.mergeId, u.firstNumber, u.lastNumber, u.postingFirstAt, u.postingLastAt, u.lastAt],
    ...[u.pieces.length, u.mergeable, u.complete, u.open],
  ].join(' ');

/** What a state holds, one line a row, sorted: two states are equal when these lines are. */
export function fragmentsDump(state: FragmentsState): string {
  const lines: string[] = [];
  for (const { place, pairs, files, blobs } of state.numberings()) {
    const at = `${place.backbone}/${place.group}/${place.epoch}`;
    for (const [rangeId, { run, pass }] of pairs) lines.push(`source ${at} ${rangeId} ${run} ${pass}`);
    for (const [hash, { pieces, merges }] of files) {
      for (const p of pieces) {
        const source = [p.rangeId, p.run, p.pass, p.posting, p.lone].join(' ');
        const numbers = [p.firstNumber, p.lastNumber, p.lastAt, p.postingFirstAt, p.postingLastAt].join(' ');
        lines.push(`piece ${at} ${hash} ${source} ${numbers} ${p.parts.flat()} ${p.totals.flat()}`);
      }
      for (const { mergeId, revision, sources } of merges) {
        const named = sources.map((s) => [s.rangeId, s.run, s.pass, s.posting].join('/')).sort();
        lines.push(`merge ${at} ${hash} ${mergeId} ${revision.number}/${revision.sequence} ${named.join(' ')}`);
      }
    }
    for (const { rangeId, k, i, blob } of [...blobs.values()].flat()) {
      lines.push(`blob ${at} ${rangeId} ${k} ${i} ${blob.firstNumber} ${blob.lastNumber} ${hexOf(blob.hashes)}`);
    }
  }
  for (const unit of state.units()) lines.push(`unit ${unit.fileHash} ${unitLine(unit)}`);
  return lines.sort().join('\n');
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

// ---- random histories ----

const RANGES = 5;
const WIDTH = 60_000;
const FILES = ['one', 'two', 'three'];
const rangeAt = (n: number, group: string): PassOptions => ({ group, lo: n * WIDTH + 1, hi: (n + 1) * WIDTH });

const pieceOf = fc.record({
  file: fc.nat({ max: FILES.length - 1 }),
  /** Where in its range, in thousandths. */
  place: fc.nat({ max: 999 }),
  part: fc.integer({ min: 1, max: 3 }),
  lone: fc.boolean(),
  day: fc.constantFrom(0, 0, 0, 2, 4, 9),
});
type MadePiece = typeof pieceOf extends fc.Arbitrary<infer T> ? T : never;

const passMove = fc.record({
  kind: fc.constant('pass' as const),
  range: fc.nat({ max: RANGES - 1 }),
  group: fc.constantFrom('alt.binaries.test', 'alt.binaries.test', 'alt.binaries.other'),
  /** A new run, a new pass, the last pair once more, or that of a zombie. */
  pair: fc.constantFrom('run' as const, 'pass' as const, 'same' as const, 'zombie' as const),
  opens: fc.boolean(),
  pieces: fc.array(pieceOf, { maxLength: 6 }),
  again: fc.boolean(),
});
const mergeMove = fc.record({
  kind: fc.constant('merge' as const),
  /** Which of the units that were there at that moment, and how many moves ago that was. */
  unit: fc.nat(),
  age: fc.nat({ max: 4 }),
  again: fc.boolean(),
});
export const fragmentMoves = fc.array(
  fc.oneof({ weight: 3, arbitrary: passMove }, { weight: 2, arbitrary: mergeMove }),
  { minLength: 1, maxLength: 25 },
);
export type FragmentMove = typeof fragmentMoves extends fc.Arbitrary<(infer T)[]> ? T : never;

/** No two pieces of a pass share a posting: the k-th message numbers its own from 10 k on. */
function bodyOf(pieces: readonly MadePiece[], lo: number, k: number): Fragments {
  const made = pieces.map((p, i) => {
    const name = FILES[p.file]!;
    const posting = 10 * k + i;
    const number = lo + Math.floor((p.place * WIDTH) / 1000);
    const o = { posting, day: p.day };
    return p.lone ? lonePiece(name, number, p.part, o) : piece(name, number, { ...o, parts: [[p.part, p.part + 1]] });
  });
  const lone = made.filter((p) => p.lone);
  const isLow = (p: Piece) => p.firstNumber - lo < WIDTH / 2;
  const edges = [lone.filter(isLow), lone.filter((p) => !isLow(p))];
  const blobs = edges.filter((list) => list.length > 0);
  return { pieces: made.filter((p) => !p.lone), lone: blobs.map(packLone) };
}

/** Turns moves into events; merges are of units that were there, now or some moves ago. */
export function fragmentHistory(moves: readonly FragmentMove[]): readonly HeadwaterEvent[] {
  const events: HeadwaterEvent[] = [];
  const state = new FragmentsState();
  const pairs = new Map<string, { run: number; pass: number }>();
  const messages = new Map<string, number>();
  const snapshots: { position: Position; units: readonly PlacedUnit[] }[] = [];
  const say = (event: HeadwaterEvent) => {
    events.push(event);
    state.apply(event);
  };
  for (const move of moves) {
    snapshots.push({ position: { number: 1, sequence: events.length }, units: [...state.units()] });
    if (move.kind === 'pass') sayPass(move, pairs, messages, say);
    else {
      const { position, units } = snapshots.at(-1 - move.age) ?? snapshots[0]!;
      const unit = units[move.unit % Math.max(1, units.length)];
      if (!unit) continue;
      const event = mergedOf(unit.place, position, [unit]);
      for (const one of move.again ? [event, event] : [event]) say(one);
    }
  }
  return events;
}

function sayPass(
  move: Extract<FragmentMove, { kind: 'pass' }>,
  pairs: Map<string, { run: number; pass: number }>,
  messages: Map<string, number>,
  say: (event: HeadwaterEvent) => void,
): void {
  const range = rangeAt(move.range, move.group);
  const name = `${move.group} ${move.range}`;
  const last = pairs.get(name) ?? { run: 1, pass: 0 };
  const next = {
    run: { run: last.run + 1, pass: 1 },
    pass: { run: last.run, pass: last.pass + 1 },
    same: { run: last.run, pass: Math.max(1, last.pass) },
    zombie: { run: Math.max(1, last.run - 1), pass: 1 },
  }[move.pair];
  if (move.pair !== 'zombie') pairs.set(name, next);
  const pass = { ...range, ...next };
  if (move.opens || move.pair === 'run' || move.pair === 'pass') say(opened(pass));
  if (move.pieces.length === 0) return;
  const k = messages.get(name) ?? 0;
  messages.set(name, k + 1);
  const event = fragmentsOf(pass, bodyOf(move.pieces, range.lo!, k), k);
  for (const one of move.again ? [event, event] : [event]) say(one);
}

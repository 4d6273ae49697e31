import { learnTemplate } from './idLearn.ts';
import { mark, matchId, newShapeColumns, restore, type ShapeColumns } from './idMatch.ts';
import { expandConstant, type IdBinding, MAX_BINDINGS, MAX_SHAPES, markConstant, shapeName } from './idShape.ts';
import type { ChunkColumns, FileRows } from './segmentColumns.ts';

/** How the ids of one file are kept. */
export interface FileIds {
  /** Number of its binding, -1: all of them raw. */
  readonly binding: number;
  /** Positions within the file whose id does not fit the binding and is kept raw. Empty when binding is -1. */
  readonly exceptions: readonly number[];
}

/** All message-ids of a chunk, taken apart. */
export interface IdColumns {
  readonly shapes: readonly ShapeColumns[];
  readonly bindings: readonly IdBinding[];
  /** By file, in the chunk's order. */
  readonly files: readonly FileIds[];
  /** Rows whose ids are kept raw, in processing order. */
  readonly raw: readonly number[];
}

/** A first guess from this many ids of a file; a second one, where the first does not hold, from more. */
const FIRST_SAMPLE = 16;
const SECOND_SAMPLE = 256;
/** Bindings that a file is tried with before one is learned for it. */
const TRIES = 4;

/** The order in which ids are written: files of several segments first, since a template cannot be read off one id. */
export const processingOrder = (rowCounts: readonly number[]): number[] => {
  const many: number[] = [];
  const single: number[] = [];
  for (const [i, count] of rowCounts.entries()) (count > 1 ? many : single).push(i);
  return [...many, ...single];
};

const spread = (rows: ArrayLike<number>, size: number): number[] => {
  const n = rows.length;
  if (n <= size) return Array.from(rows);
  return Array.from({ length: size }, (_, i) => rows[Math.round((i * (n - 1)) / (size - 1))]!);
};

class IdEncoder {
  private readonly input: ChunkColumns;
  private readonly total: number;
  private readonly shapes: ShapeColumns[] = [];
  private readonly names = new Map<string, number>();
  private readonly bindings: IdBinding[] = [];
  private readonly raw: number[] = [];
  private pooled = false;

  constructor(input: ChunkColumns) {
    this.input = input;
    this.total = input.files.reduce((sum, file) => sum + file.rows.length, 0);
  }

  encode(): IdColumns {
    const { files } = this.input;
    const kept = new Array<FileIds>(files.length);
    const order = processingOrder(files.map((f) => f.rows.length));
    for (const [place, i] of order.entries()) kept[i] = this.encodeFile(files[i]!, order.slice(place));
    return { shapes: this.shapes, bindings: this.bindings, files: kept, raw: this.raw };
  }

  private encodeFile(file: FileRows, rest: readonly number[]): FileIds {
    if (file.rows.length === 0) return { binding: -1, exceptions: [] };
    const fits = this.known(file) ?? (file.rows.length > 1 ? this.learn(file) : this.pool(file, rest));
    const ids = fits ?? { binding: -1, exceptions: [] };
    if (ids.binding < 0) for (const row of file.rows) this.raw.push(row);
    else for (const place of ids.exceptions) this.raw.push(file.rows[place]!);
    return ids;
  }

  /** The file with one of the bindings used last. */
  private known(file: FileRows): FileIds | null {
    for (let b = this.bindings.length - 1; b >= 0 && b >= this.bindings.length - TRIES; b--) {
      const ids = this.match(file, b);
      if (ids && ids.exceptions.length <= file.rows.length >> 4) return ids;
      if (ids) this.undo(b);
    }
    return null;
  }

  private learn(file: FileRows): FileIds | null {
    const first = this.bind(file, spread(file.rows, FIRST_SAMPLE));
    const ids = first < 0 ? null : this.match(file, first);
    if (ids && ids.exceptions.length <= file.rows.length >> 4) return ids;
    if (ids) this.undo(first);
    const second = file.rows.length > FIRST_SAMPLE ? this.bind(file, spread(file.rows, SECOND_SAMPLE)) : first;
    return second < 0 ? null : this.match(file, second);
  }

  /** A single id that fits nothing yet: one template is read off all single ids that are left. */
  private pool(file: FileRows, rest: readonly number[]): FileIds | null {
    if (this.pooled || rest.length < 2) return null;
    this.pooled = true;
    const rows = rest.filter((i) => this.input.files[i]!.rows.length > 0).map((i) => this.input.files[i]!.rows[0]!);
    if (rows.length < 2) return null;
    const binding = this.bind(file, spread(rows, FIRST_SAMPLE));
    return binding < 0 ? null : this.match(file, binding);
  }

  /** Learns a binding from the rows; its number, -1 when there is none or no room for one. */
  private bind(file: FileRows, rows: readonly number[]): number {
    const learned = learnTemplate(this.input.columns, rows);
    if (!learned || this.bindings.length >= MAX_BINDINGS) return -1;
    const name = shapeName(learned.shape);
    let shape = this.names.get(name);
    if (shape === undefined) {
      if (this.shapes.length >= MAX_SHAPES) return -1;
      shape = this.shapes.push(newShapeColumns(learned.shape, this.total)) - 1;
      this.names.set(name, shape);
    }
    const prefix = markConstant(learned.prefix, file);
    return this.bindings.push({ shape, prefix, suffix: markConstant(learned.suffix, file) }) - 1;
  }

  private marked: readonly number[] = [];

  /** Matches all ids of a file; null (and nothing kept) when most of them do not fit. */
  private match(file: FileRows, number: number): FileIds | null {
    const { idBytes, idStart, idEnd, part } = this.input.columns;
    const binding = this.bindings[number]!;
    const into = this.shapes[binding.shape]!;
    const prefix = expandConstant(binding.prefix, file);
    const suffix = expandConstant(binding.suffix, file);
    const { rows } = file;
    const exceptions: number[] = [];
    this.marked = mark(into);
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i]!;
      if (matchId(into, prefix, suffix, idBytes, idStart[row]!, idEnd[row]!, part[row]!)) continue;
      exceptions.push(i);
      if (exceptions.length > 2 + i / 2 || exceptions.length > rows.length / 2) {
        restore(into, this.marked);
        return null;
      }
    }
    return { binding: number, exceptions };
  }

  /** Takes back what the last successful `match` kept. */
  private undo(number: number): void {
    restore(this.shapes[this.bindings[number]!.shape]!, this.marked);
  }
}

/** Takes the message-ids of a chunk apart into columns. Every id either fits a template, byte for byte, or is kept raw. */
export const encodeIds = (input: ChunkColumns): IdColumns => new IdEncoder(input).encode();

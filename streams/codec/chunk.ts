import type { EpochMs } from '../ids.ts';
import type { ChunkFile } from '../records.ts';
import { BitReader, BitWriter } from './bits.ts';
import { ByteReader, ByteWriter } from './bytes.ts';
import { crc32, unseal } from './checksum.ts';
import { readCold, writeCold } from './coldText.ts';
import {
  type FileHead,
  FileHeadWriter,
  MAX_FILES,
  MAX_SEGMENTS,
  readFileHeads,
  readTexts,
  splitGroups,
  writeTexts,
} from './fileHeads.ts';
import { bindingFor, type DecodedShape, IdBuilder, readShapeColumns, type ShapeHead } from './idDecode.ts';
import { encodeIds, type IdColumns, processingOrder } from './idEncode.ts';
import type { FieldColumn } from './idMatch.ts';
import {
  type IdBinding,
  type IdField,
  MAX_BINDINGS,
  MAX_ID_BYTES,
  MAX_SHAPES,
  readShape,
  writeShape,
} from './idShape.ts';
import { type NumberPlan, planNumbers, readNumbers, readPlan, writeNumbers, writePlan } from './numberColumn.ts';
import { packDigits } from './radix.ts';
import { type ChunkColumns, columnsOf, type FileRows, filesOf, type SegmentColumns } from './segmentColumns.ts';

/**
 * Version 1 of the chunk format: version byte, file heads, tables (lengths only), shapes and bindings of the message-ids,
 * plan of the sizes, cold texts, then one stream of bits (sizes, ids), then the CRC-32 of all of it.
 */
const VERSION = 1;
const CODEC = 'chunk';
/** One chunk in this many is decoded again right after it was encoded, chosen by its checksum. */
const PROOF_EVERY = 64;

const hasNumbers = (field: IdField): boolean => field.kind === 'number' || field.kind === 'varied';

const gatherSizes = ({ files, columns }: ChunkColumns): Float64Array => {
  const sizes = new Float64Array(files.reduce((sum, f) => sum + f.rows.length, 0));
  let i = 0;
  for (const { rows } of files) for (let r = 0; r < rows.length; r++) sizes[i++] = columns.bytes[rows[r]!]!;
  return sizes;
};

/** Writes the head of the ids and returns the plans of all number columns, by shape and field. */
const writeIdHead = (out: ByteWriter, ids: IdColumns, columns: SegmentColumns): (NumberPlan | null)[][] => {
  out.varint(ids.shapes.length);
  const plans = ids.shapes.map(({ shape, fields, count }) => {
    writeShape(out, shape);
    return shape.map((field, f) => {
      if (!hasNumbers(field)) return null;
      const plan = planNumbers(fields[f]!.numbers, count, field.kind === 'number');
      writePlan(out, plan);
      return plan;
    });
  });
  out.varint(ids.bindings.length);
  for (const { shape, prefix, suffix } of ids.bindings) {
    out.varint(shape);
    out.varint(prefix.length);
    out.varint(suffix.length);
  }
  for (const row of ids.raw) out.varint(columns.idEnd[row]! - columns.idStart[row]!);
  return plans;
};

const writeIdBits = (bits: BitWriter, ids: IdColumns, plans: readonly (readonly (NumberPlan | null)[])[]): void => {
  for (const [s, { shape, fields, count }] of ids.shapes.entries()) {
    for (const [f, field] of shape.entries()) {
      const column: FieldColumn = fields[f]!;
      const plan = plans[s]![f];
      if (plan) writeNumbers(bits, plan, column.numbers, count);
      if (field.kind === 'random' || field.kind === 'varied') {
        packDigits(bits, field.alphabet.base, column.digits, column.used);
      }
    }
  }
};

const rawIds = (ids: IdColumns, { idBytes, idStart, idEnd }: SegmentColumns): Uint8Array[] =>
  ids.raw.map((row) => {
    const id = idBytes.subarray(idStart[row]!, idEnd[row]!);
    if (id.length > MAX_ID_BYTES) throw new RangeError(`message-id of ${id.length} bytes`);
    return id;
  });

const write = (input: ChunkColumns, ids: IdColumns, plain: boolean): Uint8Array => {
  const { files, columns } = input;
  const sizes = gatherSizes(input);
  const out = new ByteWriter(4096);
  out.u8(VERSION);
  const heads = new FileHeadWriter(out, files, columns.part);
  for (const [i, file] of files.entries()) heads.write(file, ids.files[i]!);
  const tables = [...writeTexts(out, heads.posters), ...writeTexts(out, heads.groups)];
  const plans = writeIdHead(out, ids, columns);
  const sizePlan = planNumbers(sizes, sizes.length, false);
  writePlan(out, sizePlan);
  const constants = ids.bindings.flatMap(({ prefix, suffix }) => [prefix, suffix]);
  writeCold(out, Buffer.concat([...heads.subjects, ...tables, ...constants, ...rawIds(ids, columns)]), plain);
  const bits = new BitWriter(out);
  writeNumbers(bits, sizePlan, sizes, sizes.length);
  writeIdBits(bits, ids, plans);
  bits.flush();
  out.u32(crc32(out.view()));
  return out.finish();
};

/** Hands out the cold texts one after another. */
class Texts {
  private readonly source: ByteReader;
  constructor(bytes: Uint8Array) {
    this.source = new ByteReader(CODEC, bytes);
  }
  bytes(length: number): Uint8Array {
    return this.source.raw(length);
  }
  text(length: number): string {
    return this.source.decodeText(this.source.raw(length));
  }
  end(): void {
    this.source.expectEnd();
  }
}

interface Binding extends Omit<IdBinding, 'prefix' | 'suffix'> {
  readonly prefixBytes: number;
  readonly suffixBytes: number;
}

/** How many ids each shape holds: all of its files' segments but the raw ones. Checks the binding numbers on the way. */
const countIds = (
  source: ByteReader,
  heads: readonly FileHead[],
  bindings: readonly Binding[],
  shapes: number,
): number[] => {
  const counts = new Array<number>(shapes).fill(0);
  for (const head of heads) {
    if (head.binding < 0) continue;
    const binding = bindings[head.binding];
    if (!binding) throw source.corrupt('malformed', 'no such binding');
    counts[binding.shape]! += head.rowCount - head.exceptions.length;
  }
  return counts;
};

const readIdHead = (source: ByteReader, heads: readonly FileHead[]) => {
  const shapes = Array.from({ length: source.count(MAX_SHAPES, 'shapes') }, () => {
    const shape = readShape(source);
    return { shape, plans: shape.map((field) => (hasNumbers(field) ? readPlan(source) : null)) };
  });
  const bindings: Binding[] = [];
  for (let n = source.count(MAX_BINDINGS, 'bindings'); n > 0; n--) {
    const shape = source.count(shapes.length - 1, 'as shape number');
    const prefixBytes = source.count(MAX_ID_BYTES, 'bytes of a prefix');
    bindings.push({ shape, prefixBytes, suffixBytes: source.count(MAX_ID_BYTES, 'bytes of a suffix') });
  }
  const counts = countIds(source, heads, bindings, shapes.length);
  const rawLengths: number[] = [];
  for (const head of heads) {
    const raw = head.binding < 0 ? head.rowCount : head.exceptions.length;
    for (let n = raw; n > 0; n--) rawLengths.push(source.count(MAX_ID_BYTES, 'bytes of an id'));
  }
  return { shapes: shapes.map((s, i): ShapeHead => ({ ...s, count: counts[i]! })), bindings, rawLengths };
};

/** Puts the ids together file by file, in processing order, and says where each row's id begins and ends. */
const buildIds = (
  source: ByteReader,
  heads: readonly FileHead[],
  shapes: readonly DecodedShape[],
  bindings: readonly IdBinding[],
  raw: readonly Uint8Array[],
  columns: Omit<SegmentColumns, 'idBytes'>,
): Uint8Array => {
  const builder = new IdBuilder(source);
  const firstRow: number[] = [];
  let rows = 0;
  for (const head of heads) {
    firstRow.push(rows);
    rows += head.rowCount;
  }
  let nextRaw = 0;
  for (const i of processingOrder(heads.map((h) => h.rowCount))) {
    const head = heads[i]!;
    const bound = head.binding < 0 ? null : bindingFor(shapes, bindings[head.binding]!, head);
    let exception = 0;
    for (let r = 0; r < head.rowCount; r++) {
      const row = firstRow[i]! + r;
      columns.idStart[row] = builder.at;
      const isRaw = !bound || head.exceptions[exception] === r;
      if (isRaw) {
        builder.append(raw[nextRaw++]!);
        exception++;
      } else builder.build(bound.shape, bound.prefix, bound.suffix, columns.part[row]!);
      columns.idEnd[row] = builder.at;
    }
  }
  return builder.bytes.subarray(0, builder.at);
};

const fileOf = (head: FileHead, subject: string, poster: string, groups: string, firstRow: number): FileRows => ({
  subject,
  partAt: subject.length - head.tail,
  partWidth: head.partWidth,
  poster,
  postedAt: head.postedAt as EpochMs,
  parts: head.parts,
  fileIndex: head.fileIndex,
  fileHash: head.fileHash,
  groups: splitGroups(groups),
  rows: Uint32Array.from({ length: head.rowCount }, (_, i) => firstRow + i),
});

const readFiles = (
  source: ByteReader,
  heads: readonly FileHead[],
  texts: Texts,
  tables: readonly number[][],
): FileRows[] => {
  const subjects = heads.map((head) => texts.text(head.subjectBytes));
  const [posters, groups] = tables.map((lengths) => lengths.map((length) => texts.text(length)));
  let row = 0;
  return heads.map((head, i) => {
    const poster = posters![head.poster];
    const groupSet = groups![head.groups];
    if (poster === undefined || groupSet === undefined) throw source.corrupt('malformed', 'no such poster or groups');
    const file = fileOf(head, subjects[i]!, poster, groupSet, row);
    row += head.rowCount;
    return file;
  });
};

const joinParts = (heads: readonly FileHead[], total: number): Uint32Array => {
  const part = new Uint32Array(total);
  let row = 0;
  for (const head of heads) {
    part.set(head.partNumbers, row);
    row += head.rowCount;
  }
  return part;
};

/** The files and segments of a chunk as columns; rows are numbered through. `CorruptPayload` on anything but a chunk. */
export const decodeChunkColumns = (payload: Uint8Array): ChunkColumns => {
  const source = new ByteReader(CODEC, unseal(CODEC, payload));
  if (source.u8() !== VERSION) throw source.corrupt('version', 'unknown version of the chunk format');
  const heads = readFileHeads(source);
  const total = heads.reduce((sum, head) => sum + head.rowCount, 0);
  const tables = [readTexts(source), readTexts(source)];
  const idHead = readIdHead(source, heads);
  const sizePlan = readPlan(source);
  const texts = new Texts(readCold(source));
  const files = readFiles(source, heads, texts, tables);
  const bindings = idHead.bindings.map(({ shape, prefixBytes, suffixBytes }): IdBinding => {
    const prefix = texts.bytes(prefixBytes);
    return { shape, prefix, suffix: texts.bytes(suffixBytes) };
  });
  const raw = idHead.rawLengths.map((length) => texts.bytes(length));
  texts.end();
  const bits = new BitReader(source);
  const bytes = readNumbers(source, bits, sizePlan, total);
  const shapes = idHead.shapes.map((head) => readShapeColumns(source, bits, head));
  bits.finish();
  source.expectEnd();
  const part = joinParts(heads, total);
  const rest = { idStart: new Uint32Array(total), idEnd: new Uint32Array(total), part, bytes };
  return { files, columns: { idBytes: buildIds(source, heads, shapes, bindings, raw, rest), ...rest } };
};

const sameIds = (a: SegmentColumns, rowA: number, b: SegmentColumns, rowB: number): boolean => {
  const { idStart, idEnd, idBytes } = a;
  const start = b.idStart[rowB]!;
  const length = idEnd[rowA]! - idStart[rowA]!;
  if (b.idEnd[rowB]! - start !== length) return false;
  for (let i = 0; i < length; i++) if (idBytes[idStart[rowA]! + i] !== b.idBytes[start + i]) return false;
  return true;
};

/** Whether a payload gives back every id, size and part of the input. */
const reproduces = (payload: Uint8Array, { files, columns }: ChunkColumns): boolean => {
  const decoded = decodeChunkColumns(payload);
  let row = 0;
  for (const { rows } of files) {
    for (const wanted of rows) {
      const same =
        decoded.columns.bytes[row] === columns.bytes[wanted] &&
        decoded.columns.part[row] === columns.part[wanted] &&
        sameIds(columns, wanted, decoded.columns, row);
      if (!same) return false;
      row++;
    }
  }
  return true;
};

const allRaw = ({ files }: ChunkColumns): IdColumns => {
  const order = processingOrder(files.map((f) => f.rows.length));
  const raw = order.flatMap((i) => Array.from(files[i]!.rows));
  return { shapes: [], bindings: [], files: files.map(() => ({ binding: -1, exceptions: [] })), raw };
};

const checkLimits = ({ files }: ChunkColumns): void => {
  const segments = files.reduce((sum, f) => sum + f.rows.length, 0);
  if (files.length > MAX_FILES || segments > MAX_SEGMENTS) {
    throw new RangeError(`${files.length} files with ${segments} segments are too many for one chunk`);
  }
};

/**
 * Encodes a chunk given as columns. Every id that fits its file's template does so byte for byte; the rest is kept as it is.
 * One chunk in 64 is decoded again and compared; should it differ, its ids are all kept as they are.
 * `plain`: texts uncompressed, for payloads that are packed together later. RangeError on what no chunk can hold (limits, a
 * hash that is not 16 hex digits).
 */
export const encodeChunkColumns = (input: ChunkColumns, plain = false): Uint8Array => {
  checkLimits(input);
  const payload = write(input, encodeIds(input), plain);
  if (payload[payload.length - 4]! % PROOF_EVERY !== 0 || reproduces(payload, input)) return payload;
  return write(input, allRaw(input), plain);
};

/** `encodeChunkColumns` for segments as objects. */
export const encodeChunk = (files: readonly ChunkFile[]): Uint8Array => encodeChunkColumns(columnsOf(files));

/** The files of a chunk payload, equal to what was encoded. `CorruptPayload` on anything but a chunk. */
export const decodeChunk = (payload: Uint8Array): ChunkFile[] => filesOf(decodeChunkColumns(payload));

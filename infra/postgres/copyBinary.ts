/**
 * The binary COPY format. Text would be shorter to write but doubles every bytea on the wire and costs the server twice
 * the work for it; segment lists are most of what is ever copied.
 */
import type { SqlValue } from '../../projections/ports.ts';

const SIGNATURE = Buffer.from('PGCOPY\n\u00ff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
const CHUNK_BYTES = 256 * 1024;
/** Milliseconds between 1970 and 2000, where the server counts timestamps from. */
const EPOCH_2000_MS = 946_684_800_000;

/** A buffer that grows, written big-endian from the left. */
class Writer {
  #bytes = Buffer.allocUnsafe(CHUNK_BYTES * 2);
  length = 0;

  #room(bytes: number): void {
    if (this.length + bytes <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.length + bytes));
    this.#bytes.copy(larger, 0, 0, this.length);
    this.#bytes = larger;
  }
  int16(value: number): void {
    this.#room(2);
    this.length = this.#bytes.writeInt16BE(value, this.length);
  }
  int32(value: number): void {
    this.#room(4);
    this.length = this.#bytes.writeInt32BE(value, this.length);
  }
  int64(value: bigint): void {
    this.#room(8);
    this.length = this.#bytes.writeBigInt64BE(value, this.length);
  }
  float64(value: number): void {
    this.#room(8);
    this.length = this.#bytes.writeDoubleBE(value, this.length);
  }
  byte(value: number): void {
    this.#room(1);
    this.length = this.#bytes.writeUInt8(value, this.length);
  }
  raw(value: Uint8Array): void {
    this.#room(value.length);
    this.#bytes.set(value, this.length);
    this.length += value.length;
  }
  text(value: string): void {
    this.#room(value.length * 3);
    this.length += this.#bytes.write(value, this.length, 'utf8');
  }
  /** Writes `body` behind its own length, as every field is. */
  sized(body: () => void): void {
    const at = this.length;
    this.int32(0);
    body();
    this.#bytes.writeInt32BE(this.length - at - 4, at);
  }
  /** What was written so far, as a copy; the writer starts again. */
  take(): Buffer {
    const out = Buffer.from(this.#bytes.subarray(0, this.length));
    this.length = 0;
    return out;
  }
}

type WriteValue = (w: Writer, value: SqlValue) => void;

const wrong = (type: string, value: SqlValue): never => {
  throw new TypeError(`${typeof value} ${String(value).slice(0, 40)} is no value for a column of type ${type}`);
};

function integer(type: string, value: SqlValue): number {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : wrong(type, value);
}

function bytes(type: string, value: SqlValue): Uint8Array {
  return value instanceof Uint8Array ? value : wrong(type, value);
}

function uuid(value: SqlValue): Uint8Array {
  if (typeof value !== 'string') return wrong('uuid', value);
  const raw = Buffer.from(value.replaceAll('-', ''), 'hex');
  return raw.length === 16 ? raw : wrong('uuid', value);
}

/** PostgreSQL has no NUL in text; it becomes the replacement character, as a reader of broken text would show it. */
const cleanText = (value: string): string => (value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value);
const text: WriteValue = (w, v) => w.text(cleanText(typeof v === 'string' ? v : wrong('text', v)));

const milliseconds = (value: SqlValue): number =>
  value instanceof Date ? value.getTime() : typeof value === 'number' ? value : wrong('timestamptz', value);

/** By type name as pg_type has it. */
const SCALARS: Readonly<Record<string, WriteValue>> = {
  int2: (w, v) => w.int16(integer('int2', v)),
  int4: (w, v) => w.int32(integer('int4', v)),
  int8: (w, v) => w.int64(typeof v === 'bigint' ? v : BigInt(integer('int8', v))),
  float8: (w, v) => w.float64(typeof v === 'number' ? v : wrong('float8', v)),
  bool: (w, v) => w.byte(typeof v === 'boolean' ? Number(v) : wrong('bool', v)),
  text,
  bytea: (w, v) => w.raw(bytes('bytea', v)),
  uuid: (w, v) => w.raw(uuid(v)),
  timestamptz: (w, v) => w.int64(BigInt(Math.round(milliseconds(v)) - EPOCH_2000_MS) * 1000n),
  // A version byte precedes the JSON text.
  jsonb: (w, v) => {
    w.byte(1);
    text(w, v);
  },
};

function writeField(w: Writer, write: WriteValue, value: SqlValue): void {
  if (value === null) w.int32(-1);
  else w.sized(() => write(w, value));
}

function arrayOf(name: string, elementOid: number, write: WriteValue): WriteValue {
  return (w, value) => {
    if (!Array.isArray(value)) return wrong(`${name}[]`, value);
    w.int32(value.length === 0 ? 0 : 1);
    w.int32(value.includes(null) ? 1 : 0);
    w.int32(elementOid);
    if (value.length === 0) return;
    w.int32(value.length);
    w.int32(1);
    for (const item of value) writeField(w, write, item);
  };
}

/** A column of the target table: its type's name, and for an array the type of its elements. */
export interface CopyColumn {
  readonly type: string;
  readonly elementType: string | null;
  readonly elementOid: number;
}

function writerFor(column: CopyColumn): WriteValue {
  const name = column.elementType ?? column.type;
  const scalar = SCALARS[name];
  if (!scalar) throw new TypeError(`COPY of type ${column.type} is not supported`);
  return column.elementType === null ? scalar : arrayOf(name, column.elementOid, scalar);
}

/** The rows in binary COPY format, in pieces of about 256 KiB. Calls `onRow` for each row. */
export function* encodeCopy(
  columns: readonly CopyColumn[],
  rows: Iterable<readonly SqlValue[]>,
  onRow: () => void,
): Generator<Buffer> {
  const writers = columns.map(writerFor);
  const w = new Writer();
  w.raw(SIGNATURE);
  for (const row of rows) {
    if (row.length !== writers.length) throw new TypeError(`a row of ${row.length} for ${writers.length} columns`);
    w.int16(writers.length);
    for (let i = 0; i < writers.length; i++) writeField(w, writers[i]!, row[i]!);
    onRow();
    if (w.length >= CHUNK_BYTES) yield w.take();
  }
  w.int16(-1);
  yield w.take();
}

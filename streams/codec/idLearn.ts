import {
  ALPHABETS,
  HEX_LOWER,
  HEX_UPPER,
  type Span,
  smallestAlphabet,
  UUID_VARIANT_LOWER,
  UUID_VARIANT_UPPER,
} from './alphabet.ts';
import {
  type IdField,
  type IdShape,
  INDEX_MARK,
  isAlphanumeric,
  isDecimal,
  MAX_DECIMALS,
  MAX_FIELDS,
  MAX_HEX_DIGITS,
} from './idShape.ts';
import type { SegmentColumns } from './segmentColumns.ts';

/** A template that was read off a sample of ids. Whether it holds for the others shows when they are matched. */
export interface Learned {
  readonly shape: IdShape;
  readonly prefix: Uint8Array;
  readonly suffix: Uint8Array;
}

/** The sampled ids: where each lies in `bytes`, and the part counter of its segment. */
interface Sample {
  readonly bytes: Uint8Array;
  readonly spans: readonly Span[];
  readonly parts: readonly number[];
}

const commonPrefix = ({ bytes, spans }: Sample): number => {
  const first = spans[0]!;
  let length = first.to - first.from;
  for (const s of spans) {
    let n = 0;
    while (n < length && s.from + n < s.to && bytes[s.from + n] === bytes[first.from + n]) n++;
    length = n;
  }
  return length;
};

/** Length of the common end, of what remains behind the first `taken` bytes. */
const commonSuffix = ({ bytes, spans }: Sample, taken: number): number => {
  const first = spans[0]!;
  let length = first.to - first.from - taken;
  for (const s of spans) {
    let n = 0;
    while (n < length && s.to - n > s.from + taken && bytes[s.to - 1 - n] === bytes[first.to - 1 - n]) n++;
    length = n;
  }
  return length;
};

const every = (bytes: Uint8Array, { from, to }: Span, test: (byte: number) => boolean): boolean => {
  for (let i = from; i < to; i++) if (!test(bytes[i]!)) return false;
  return true;
};

const trimmed = (spans: readonly Span[], prefix: number, suffix: number): Span[] =>
  spans.map((s) => ({ from: s.from + prefix, to: s.to - suffix }));

/**
 * The constants at both ends. Digits that ids share by chance belong to the number behind or before them, and letters to the
 * random word, so both ends are taken back to where such a run begins.
 */
const constants = (sample: Sample): { prefix: number; suffix: number } => {
  const { bytes, spans } = sample;
  let prefix = commonPrefix(sample);
  let suffix = commonSuffix(sample, prefix);
  const numeric = trimmed(spans, prefix, suffix).every((s) => every(bytes, s, isDecimal));
  const inRun = numeric ? isDecimal : isAlphanumeric;
  const first = spans[0]!;
  while (prefix > 0 && inRun(bytes[first.from + prefix - 1]!)) prefix--;
  while (suffix > 0 && inRun(bytes[first.to - suffix]!)) suffix--;
  return { prefix, suffix };
};

const numberAt = (bytes: Uint8Array, { from, to }: Span): number => {
  let value = 0;
  for (let i = from; i < to; i++) value = value * 10 + bytes[i]! - 48;
  return value;
};

const lengths = (spans: readonly Span[]): { least: number; most: number } => {
  let least = Number.POSITIVE_INFINITY;
  let most = 0;
  for (const s of spans) {
    least = Math.min(least, s.to - s.from);
    most = Math.max(most, s.to - s.from);
  }
  return { least, most };
};

/** Digits in every id: the part counter, a number of its own, or a number too long for one field, cut in two. */
const learnNumber = ({ bytes, parts }: Sample, spans: readonly Span[]): IdField[] | null => {
  const { least, most } = lengths(spans);
  const alphabet = ALPHABETS[0]!;
  if (least === 0) return null;
  if (most > MAX_DECIMALS) {
    if (least !== most || most > 2 * MAX_DECIMALS) return [{ kind: 'varied', alphabet }];
    const number = (width: number): IdField => ({ kind: 'number', width, exact: true, alphabet });
    return [number(most - MAX_DECIMALS), number(MAX_DECIMALS)];
  }
  const offset = numberAt(bytes, spans[0]!) - parts[0]!;
  const counts = parts.some((p) => p !== parts[0]) && spans.every((s, i) => numberAt(bytes, s) - parts[i]! === offset);
  return counts ? [{ kind: 'part', width: least, offset }] : [{ kind: 'number', width: least, exact: false, alphabet }];
};

/** 32 hex digits of which one is always 4 and another one of four: a random UUID without its dashes. */
const learnUuid = (bytes: Uint8Array, spans: readonly Span[], upper: boolean): IdField[] | null => {
  const alphabet = upper ? HEX_UPPER : HEX_LOWER;
  const variant = upper ? UUID_VARIANT_UPPER : UUID_VARIANT_LOWER;
  const isUuid = spans.every((s) => bytes[s.from + 12] === 52 && variant.digits[0][bytes[s.from + 16]!] !== 255);
  if (!isUuid) return null;
  return [
    { kind: 'random', length: 12, alphabet },
    { kind: 'literal', bytes: Uint8Array.of(52) },
    { kind: 'random', length: 3, alphabet },
    { kind: 'random', length: 1, alphabet: variant },
    { kind: 'random', length: 15, alphabet },
  ];
};

const learnRandom = ({ bytes }: Sample, spans: readonly Span[]): IdField[] | null => {
  const { least, most } = lengths(spans);
  const alphabet = smallestAlphabet(bytes, spans);
  if (!alphabet) return null;
  if (least !== most) return [{ kind: 'varied', alphabet }];
  const hex = alphabet === HEX_LOWER || alphabet === HEX_UPPER;
  if (hex && least <= MAX_HEX_DIGITS) return [{ kind: 'number', width: least, exact: true, alphabet }];
  const uuid = hex && least === 32 ? learnUuid(bytes, spans, alphabet === HEX_UPPER) : null;
  return uuid ?? [{ kind: 'random', length: least, alphabet }];
};

const literal = (bytes: Uint8Array, from: number, to: number): IdField[] =>
  from < to ? [{ kind: 'literal', bytes: bytes.slice(from, to) }] : [];

/** One word between separators: constant, a number with constant letters around it, or random. */
const learnWord = (sample: Sample, spans: readonly Span[]): IdField[] | null => {
  const { bytes } = sample;
  const word: Sample = { ...sample, spans };
  const first = spans[0]!;
  const shared = commonPrefix(word);
  if (spans.every((s) => s.to - s.from === shared)) return literal(bytes, first.from, first.to);
  const { prefix, suffix } = constants(word);
  const inner = trimmed(spans, prefix, suffix);
  if (inner.every((s) => s.from < s.to && every(bytes, s, isDecimal))) {
    const number = learnNumber(sample, inner);
    if (!number) return null;
    const before = literal(bytes, first.from, first.from + prefix);
    return [...before, ...number, ...literal(bytes, first.to - suffix, first.to)];
  }
  return learnRandom(sample, spans);
};

type IsSeparator = (byte: number) => boolean;

/** Cuts the spans at their separators; null when the separators differ from id to id. */
const split = (bytes: Uint8Array, spans: readonly Span[], isSeparator: IsSeparator): Span[][] | null => {
  const cut = spans.map((s) => {
    const words: Span[] = [];
    let from = s.from;
    for (let i = s.from; i < s.to; i++) {
      if (!isSeparator(bytes[i]!)) continue;
      words.push({ from, to: i });
      from = i + 1;
    }
    words.push({ from, to: s.to });
    return words;
  });
  const first = cut[0]!;
  const same = cut.every(
    (words) =>
      words.length === first.length &&
      words.every((w, i) => i + 1 === words.length || bytes[w.to] === bytes[first[i]!.to]),
  );
  return same ? cut : null;
};

/** From the finest cut to none: ids with punctuation in their random words agree only on the coarser ones. */
const CUTS: readonly IsSeparator[] = [(byte) => !isAlphanumeric(byte), (byte) => byte === 64, () => false];

const learnFields = (sample: Sample, spans: readonly Span[], isSeparator: IsSeparator): IdShape | null => {
  const { bytes } = sample;
  const cut = split(bytes, spans, isSeparator);
  if (!cut) return null;
  const fields: IdField[] = [];
  const last = cut[0]!.length - 1;
  for (const [i, word] of cut[0]!.entries()) {
    const learned = learnWord(
      sample,
      cut.map((words) => words[i]!),
    );
    if (!learned) return null;
    fields.push(...learned);
    if (i < last) fields.push(...literal(bytes, word.to, word.to + 1));
  }
  return fields.length <= MAX_FIELDS ? fields : null;
};

/**
 * Reads a template off the given rows' ids (two or more; more rows, surer guess). Null when they have nothing in common
 * that would be worth a template.
 */
export const learnTemplate = (columns: SegmentColumns, rows: readonly number[]): Learned | null => {
  const { idBytes: bytes, idStart, idEnd, part } = columns;
  const spans = rows.map((row) => ({ from: idStart[row]!, to: idEnd[row]! }));
  const sample: Sample = { bytes, spans, parts: rows.map((row) => part[row]!) };
  const { prefix, suffix } = constants(sample);
  const first = spans[0]!;
  const middle = trimmed(spans, prefix, suffix);
  for (const isSeparator of CUTS) {
    const shape = learnFields(sample, middle, isSeparator);
    if (!shape) continue;
    const learned = {
      shape,
      prefix: bytes.slice(first.from, first.from + prefix),
      suffix: bytes.slice(first.to - suffix, first.to),
    };
    // The marks for the file's numbers must not be mistaken for bytes of the id.
    const clean = (constant: Uint8Array): boolean => constant.every((byte) => byte > INDEX_MARK);
    return clean(learned.prefix) && clean(learned.suffix) ? learned : null;
  }
  return null;
};

import { ALPHABET, type Random } from './random.ts';

/** Posting tools whose message-ids the generator writes. */
export const TOOLS = ['powerpost', 'camelsystem', 'nyuu', 'ngpost', 'jbinup', 'postie'] as const;
export type Tool = (typeof TOOLS)[number];

/** What an id may depend on. */
export interface IdContext {
  readonly part: number;
  readonly parts: number;
  /** Which file of the post, from 1, and of how many. */
  readonly file: number;
  readonly files: number;
  /** 20 random characters of `ALPHABET.powerpost`, constant for the file. */
  readonly fileToken: string;
  /** Posting time in ms since 1970. */
  readonly nowMs: number;
}

type Shape = (context: IdContext, random: Random) => string;

/** A version 4 UUID without its dashes: digit 13 is 4, digit 17 one of 89ab. */
function uuidHex(random: Random): string {
  const hex = (length: number) => random.text(length, ALPHABET.hex);
  return `${hex(12)}4${hex(3)}${random.text(1, '89ab')}${hex(15)}`;
}

/**
 * PowerPost and camelsystem: a token a file, the counters are those of the part. Nyuu: 24 letters and the time of
 * encoding in ms, near the Date header. ngPost: a UUID. JBinUp: random for each article, its counters are those of the
 * FILE. postie: random throughout, domain included.
 */
const SHAPES: Readonly<Record<Tool, Shape>> = {
  powerpost: (c) => `part${c.part}of${c.parts}.${c.fileToken}@powerpost2000AA.local`,
  camelsystem: (c) => `part${c.part}of${c.parts}.${c.fileToken}@camelsystem-powerpost.local`,
  nyuu: (c, random) =>
    `${random.text(24, ALPHABET.upper, ALPHABET.lower)}-${Math.floor(c.nowMs) + random.int(-400, 400)}@nyuu`,
  ngpost: (_, random) => `${uuidHex(random)}@ngPost`,
  jbinup: (c, random) => `${random.text(20, ALPHABET.base62)}_${c.file}o${c.files}@JBinUp.local`,
  postie: (_, random) => {
    const part = (length: number) => random.text(length, ALPHABET.base62);
    return `${part(32)}@${part(8)}.${part(3)}`;
  },
};

/** The message-id, without angle brackets, that `tool` would give to an article. */
export const messageIdOf = (tool: Tool, context: IdContext, random: Random): string => SHAPES[tool](context, random);

/** How each tool's ids look, for tests: anchored, without angle brackets. */
export const ID_PATTERNS: Readonly<Record<Tool, RegExp>> = {
  powerpost: /^part\d+of\d+\.[A-Za-z0-9&$]{20}@powerpost2000AA\.local$/,
  camelsystem: /^part\d+of\d+\.[A-Za-z0-9&$]{20}@camelsystem-powerpost\.local$/,
  nyuu: /^(?:[A-Z][a-z]){12}-\d{13}@nyuu$/,
  ngpost: /^[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}@ngPost$/,
  jbinup: /^[A-Za-z0-9]{20}_\d+o\d+@JBinUp\.local$/,
  postie: /^[A-Za-z0-9]{32}@[A-Za-z0-9]{8}\.[A-Za-z0-9]{3}$/,
};

/** Shares by segments that the chunk store is measured with. */
export const DEFAULT_MIX: Readonly<Record<Tool, number>> = {
  powerpost: 0.2,
  camelsystem: 0.08,
  nyuu: 0.34,
  ngpost: 0.2,
  jbinup: 0.06,
  postie: 0.12,
};

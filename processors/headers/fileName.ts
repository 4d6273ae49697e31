import { withoutLead } from './title.ts';
import { EXTENSION_IN_TEXT, hasExtension, hasKnownExtension } from './volumes.ts';

/** A file name found in a subject: text[start..end) is what to leave out of the title, quotes included. */
export interface FoundName {
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly rule: 'quoted' | 'half_quoted' | 'private' | 'after_counter' | 'bracketed' | 'last_word' | 'whole';
}

const QUOTED = /"+([^"]+)"+/g;
const COUNTER = /[[(<{]?\s*\b\d{1,5}\s*(?:\/|\s+of\s+|of)\s*\d{1,5}\b\s*[\])>}]?\s*[-:]*\s*/gi;
const PRIVATE =
  /\[PRiVATE\]-\[[^\]]*nzb\]-(?:\[(\d+)\]-)?\[(.*?)\](?=\s*-\s*"|\s*-\s*\[\d+[/_]\d+\])(?:\s*-\s*\[(\d+)[/_](\d+)\])?/i;

const lastOf = <T>(items: readonly T[]): T | undefined => items[items.length - 1];

/** `[PRiVATE]-[WtFnZb]-[name]-[i/N] - ""`: the name is in brackets, perhaps with a path or `i/` before it. */
export interface PrivateName extends FoundName {
  readonly index: number | null;
  readonly total: number | null;
}

export function findPrivateName(text: string): PrivateName | null {
  const m = PRIVATE.exec(text);
  if (!m) return null;
  const inner = m[2]!;
  const path = inner.startsWith('/') ? inner.slice(inner.lastIndexOf('/') + 1) : inner;
  const numbered = /^(\d{1,5})\/(?:.*\/)?(.+)$/.exec(path);
  const name = numbered ? numbered[2]! : path;
  const index = m[3] !== undefined ? Number(m[3]) : numbered && m[1] !== undefined ? Number(numbered[1]) : null;
  const total = m[4] ?? m[1];
  const found = { name: name.trim(), start: m.index, end: m.index + m[0].length, rule: 'private' as const };
  return { ...found, index, total: total === undefined ? null : Number(total) };
}

/** A name between quotes: the last one with an extension, else the last one. */
function findQuoted(text: string): FoundName | null {
  const found = [...text.matchAll(QUOTED)]
    .map((m) => ({ name: m[1]!.trim(), start: m.index, end: m.index + m[0].length, rule: 'quoted' as const }))
    .filter((f) => f.name !== '' && f.name !== '-' && !/^[[(]?\d+\/\d+[\])]?$/.test(f.name));
  return lastOf(found.filter((f) => hasExtension(f.name))) ?? lastOf(found) ?? null;
}

/** One quote is missing: what reaches from a border to the quote and has an extension. */
function findHalfQuoted(text: string): FoundName | null {
  const quotes = [...text.matchAll(/"/g)].map((m) => m.index);
  if (quotes.length % 2 === 0) return null;
  const borders = [-1, ...quotes, text.length];
  const pieces = quotes.map((_, k) => ({ from: borders[k]! + 1, to: borders[k + 1]! }));
  for (const { from, to } of pieces.reverse()) {
    const piece = text.slice(from, to);
    if (!hasKnownExtension(piece)) continue;
    const start = from + afterCounter(piece);
    return { name: text.slice(start, to).trim(), start, end: to + 1, rule: 'half_quoted' };
  }
  return null;
}

/** Where the text after the last file counter begins. */
const afterCounter = (text: string): number => {
  const last = lastOf([...text.matchAll(COUNTER)].filter((m) => m.index + m[0].length < text.length));
  return last === undefined ? 0 : last.index + last[0].length;
};

/** The opening bracket that a bracket right after `end` closes, -1 when it closes none. */
function openingOf(text: string, end: number): number {
  const close = text[end];
  const open = close === ']' ? '[' : close === ')' ? '(' : undefined;
  if (open === undefined) return -1;
  let depth = 0;
  for (let i = end - 1; i >= 0; i--) {
    if (text[i] === close) depth++;
    else if (text[i] === open && depth-- === 0) return i;
  }
  return -1;
}

const LEAD = /^(?:[\s*]+|-+\s+|re:\s+|[^\s[\]]*\[\d+\]_-_)+/i;
const UNPAIRED = /^(?:'(?=.*'$)|\[(?!.*\])|\((?!.*\)))/;

/** Where an unquoted name begins in text[from..end): after answers, request notes and unpaired brackets. */
function nameStart(text: string, from: number, end: number): number {
  const piece = text.slice(from, end);
  const noted = piece.length - withoutLead(piece).length;
  const at = /^re:/i.test(piece) ? 0 : noted;
  const lead = LEAD.exec(piece.slice(at))?.[0].length ?? 0;
  const enclosed = `${piece.slice(at + lead)}${text[end] ?? ''}`;
  return from + at + lead + (UNPAIRED.test(enclosed) ? 1 : 0);
}

/** A known extension without quotes; where the name begins is a matter of what surrounds it. */
function findUnquoted(text: string, plainPost: boolean): FoundName | null {
  const extension = lastOf([...text.matchAll(EXTENSION_IN_TEXT)].filter((m) => !isBareWord(text, m.index)));
  if (extension === undefined) return null;
  const end = extension.index + extension[0].length;
  const open = openingOf(text, end);
  if (open >= 0) return { name: text.slice(open + 1, end).trim(), start: open, end: end + 1, rule: 'bracketed' };
  const head = text.slice(0, end);
  const counted = afterCounter(head);
  const from = nameStart(text, counted, end);
  const rule = counted > 0 ? 'after_counter' : 'whole';
  if (counted === 0) {
    const token = lastName(head, plainPost);
    if (token !== null) return { name: head.slice(token).trim(), start: token, end, rule: 'last_word' };
  }
  return { name: text.slice(from, end).trim(), start: from, end, rule };
}

/** `.pdf files?`: an extension after a blank, with words after it, is talked about. A name may be all suffix, though. */
const isBareWord = (text: string, at: number): boolean =>
  (at === 0 || text[at - 1] === ' ') &&
  /^\.\S+\s+\p{L}+\s*\p{L}/u.test(text.slice(at)) &&
  !/yenc/i.test(text.slice(at));

/** Names of books and songs have blanks; those of pictures and archives seldom do. */
const PROSE = /\.(?:epub|mobi|azw3?|pdf|lit|docx?|rtf|txt|mp3|m4b|flac|ogg)$/i;

/** Where the last word begins when it is a name of its own, null when the blanks belong to the name. */
function lastName(head: string, plainPost: boolean): number | null {
  // `Release.Name-GROUP - group-release.ext`: a title in the style of release groups, then the name.
  const dashed = /[^\s._]+[._][^\s._]+[._]\S+ - (?=\S+$)/.exec(head);
  if (dashed) return dashed.index + dashed[0].length;
  if (!plainPost || PROSE.test(head)) return null;
  const blank = head.search(/\S+$/);
  return blank > 0 && /^[\p{L}\p{N}][\p{L}\p{N}_.-]{3,}$/u.test(head.slice(blank)) ? blank : null;
}

/**
 * `plainPost`: neither yEnc nor a file counter, as posts of the uuencode years are; there the last word is the name, and
 * quotes around what has no extension are just quotes.
 */
export function findFileName(text: string, plainPost: boolean): FoundName | null {
  const quoted = findQuoted(text);
  if (quoted !== null && hasExtension(quoted.name)) return quoted;
  return findHalfQuoted(text) ?? (plainPost ? null : quoted) ?? findUnquoted(text, plainPost);
}

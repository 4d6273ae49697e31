import { type CounterRule, PartCounter } from './counter.ts';
import { type FileCounter, findFileCounter } from './fileCounter.ts';
import { type FoundName, findFileName, findPrivateName } from './fileName.ts';
import { foldBase } from './identity.ts';
import { isBareRandom, isGeneric, looksObfuscated } from './random.ts';
import { charsetOf, decodeEntities, decodeWords, readText } from './text.ts';
import {
  findLateTitle,
  findOpenToken,
  findTitle,
  findTrailingTitle,
  isReadableTitle,
  isTag,
  withoutBanners,
} from './title.ts';
import { type FileRole, fileBase, roleOf } from './volumes.ts';

/** What kind of post a subject announces. */
export type SubjectKind = 'readable' | 'obfuscated' | 'uuencode' | 'text' | 'per_article_random';

/** A subject with its part counter, brackets included, taken out, decoded to text. */
export interface SubjectPieces {
  readonly before: string;
  readonly after: string;
  /** As written; null without a part counter. */
  readonly part: number | null;
  readonly parts: number | null;
  readonly counterRule: CounterRule;
  /** The bracket that opened the counter, empty without one. */
  readonly bracket: string;
}

/** What the core makes of a subject. Names are null when the subject holds none. */
export interface SubjectReading {
  readonly part: number | null;
  readonly parts: number | null;
  readonly fileIndex: number | null;
  readonly fileTotal: number | null;
  readonly fileName: string | null;
  readonly releaseBase: string | null;
  readonly yenc: boolean;
  readonly kind: SubjectKind;
  readonly role: FileRole;
  /** The base tells nothing, for it looks random. */
  readonly obfuscated: boolean;
  /** The base is missing, obfuscated or anybody's (`sample`): the poster joins the identities. */
  readonly usesPoster: boolean;
  /** The subject without its part counter and without copies of it: what identifies the file. */
  readonly identity: string;
  /** Which rules decided, for `explain`: `<counter>/<name>/<base>`. */
  readonly rule: string;
}

/** Subjects that announce no file, whatever they hold. */
const TEXT_MARK = /^\s*"?(?:usenet index post|cmsg\s|report\s+<)/i;
const TEXT_WORD = /\b(?:faq|digest|charter)\b/i;
const GROUP_AT_END = /[[({]\s*(\d+)\s*\/\s*(\d+)\s*[\])}]?\s*$/;
const GROUP_AT_START = /^\s*(?:yenc\s*)?[[({]\s*(\d+)\s*\/\s*(\d+)\s*[\])}]?/i;

const noControls = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is replaced here.
  text.replace(/[\u0000-\u001f\u007f\u00a0]/g, ' ');

/**
 * Removes copies of the part counter that stand right beside it: `yEnc (7/250) (7/250)`. The total alone tells a copy, not
 * the number: what is read must be the same for all parts of a file. Left of the counter also the bracket must be the same,
 * for files are counted there too.
 */
function withoutCopies(p: SubjectPieces): { readonly before: string; readonly after: string } {
  const same = (m: RegExpExecArray | null) => m !== null && Number(m[2]) === p.parts;
  const left = p.counterRule === 'last_group' ? GROUP_AT_END.exec(p.before) : null;
  const right = GROUP_AT_START.exec(p.after);
  const copied = same(left) && (p.bracket === '' || left![0].trimStart().startsWith(p.bracket));
  return {
    before: copied ? p.before.slice(0, left!.index) : p.before,
    after: same(right) ? p.after.slice(right![0].length) : p.after,
  };
}

const blankOut = (text: string, start: number, end: number): string =>
  text.slice(0, start) + ' '.repeat(end - start) + text.slice(end);

interface Names {
  readonly name: FoundName | null;
  readonly index: number | null;
  readonly total: number | null;
  /** The text left of the name, without the file counter. */
  readonly left: string;
  /** The text right of the name. */
  readonly right: string;
  readonly counter: FileCounter | null;
}

/** `before` is the text left of the part counter; `tail` an extension that stands right of it: `stage (2/15).mp3`. */
function findNames(before: string, tail: string, yenc: boolean): Names {
  const named = findPrivateName(before);
  if (named !== null) {
    const { index, total } = named;
    return { name: named, index, total, left: '', right: '', counter: null };
  }
  const text = tail === '' ? before : before.trimEnd() + tail;
  const plainPost = !yenc && findFileCounter(text, text.length) === null;
  const name = findFileName(text, plainPost && tail === '');
  const nameStart = name?.start ?? text.length;
  const counter = findFileCounter(name === null ? text : blankOut(text, name.start, name.end), nameStart);
  const bare = counter === null ? text : blankOut(text, counter.start, counter.end);
  return {
    name,
    index: counter?.index ?? null,
    total: counter?.total ?? null,
    left: bare.slice(0, nameStart),
    right: bare.slice(name?.end ?? text.length),
    counter,
  };
}

interface Base {
  readonly base: string | null;
  readonly rule: 'title' | 'name' | 'late_title' | 'token' | 'subject' | 'none';
}

/** `title - 01.jpg name.jpg`: pictures of one series, numbered beside their names. */
const SERIES = /^(.+?) - \d+(?:\.\w+)?\s*$/;

/** The base of a post of the uuencode years, where what stands before the last word is talk. */
function plainBase(name: FoundName, left: string): Base {
  const series = SERIES.exec(left.trim())?.[1];
  return series === undefined ? { base: fileBase(name.name), rule: 'name' } : { base: series, rule: 'title' };
}

function namedBase(name: FoundName, names: Names, title: string | null): Base {
  const base = fileBase(name.rule === 'whole' ? withoutBanners(name.name) : name.name);
  if (base === null || isTag(foldBase(base))) return { base: title, rule: title === null ? 'none' : 'title' };
  if (looksObfuscated(base)) {
    const token = findOpenToken(names.left);
    if (token !== null && looksObfuscated(token)) return { base: token, rule: 'token' };
  }
  let late: string | null = null;
  if (/^\d+$/.test(base)) late = findLateTitle(names.right);
  else if (name.rule === 'after_counter') late = findTrailingTitle(names.right);
  return late === null ? { base, rule: 'name' } : { base: late, rule: 'late_title' };
}

/** The title outside the file name when it is readable, else the file name without its suffixes. */
function chooseBase(names: Names): Base {
  const { name, left } = names;
  if (name?.rule === 'last_word' && names.counter === null) return plainBase(name, left);
  const title = findTitle(left);
  if (title !== null && isReadableTitle(title)) return { base: title, rule: 'title' };
  if (name !== null) return namedBase(name, names, title);
  const plain = left.replace(/\byenc\b/gi, ' ').replace(/^[\s\-"$]+|[\s\-"$]+$/g, '');
  return /[\p{L}\p{N}]{3}/u.test(plain) ? { base: plain, rule: 'subject' } : { base: null, rule: 'none' };
}

const isSingle = (p: SubjectPieces): boolean => p.parts === null || p.parts <= 1;

function kindOf(p: SubjectPieces, names: Names, yenc: boolean, obfuscated: boolean): SubjectKind {
  const whole = `${p.before} ${p.after}`;
  if (TEXT_MARK.test(p.before) || whole.trim() === '') return 'text';
  if (names.name === null) {
    if (isSingle(p) && names.counter === null && isBareRandom(whole)) return 'per_article_random';
    if (!yenc && (p.part === null || TEXT_WORD.test(whole))) return 'text';
  }
  if (obfuscated) return 'obfuscated';
  const rule = names.name?.rule;
  const old = rule === 'last_word' || ((rule === 'whole' || rule === 'bracketed') && p.part !== null);
  return old && !yenc && names.counter === null ? 'uuencode' : 'readable';
}

/** Names and titles are looked for in so many characters beside the part counter; the identity takes all of them. */
const MAX_READ = 1024;

/** Reads a subject whose part counter is known. A pure function of its pieces. */
export function readPieces(pieces: SubjectPieces): SubjectReading {
  const { before, after } = withoutCopies(pieces);
  const whole = noControls(decodeEntities(before));
  const text = whole.slice(-MAX_READ);
  const wholeRest = noControls(decodeEntities(after));
  const rest = wholeRest.slice(0, MAX_READ);
  const yenc = /yenc/i.test(text) || /yenc/i.test(rest);
  const names = findNames(text, /^\.[A-Za-z0-9]{2,4}$/.test(rest.trim()) ? rest.trim() : '', yenc);
  const { base, rule } = chooseBase(names);
  const obfuscated = base !== null && looksObfuscated(base);
  const kind = kindOf({ ...pieces, before: text, after: rest }, names, yenc, obfuscated);
  const nothing = kind === 'per_article_random' || (kind === 'text' && pieces.part === null);
  const repeated = isEcho(pieces, names, obfuscated && rule === 'name');
  const echo = repeated ? names.counter : null;
  const ownText = echo === null ? text : text.slice(0, echo.start) + text.slice(echo.end);
  const counted = nothing || repeated ? null : names;
  const name = nothing ? null : (names.name?.name ?? null);
  const releaseBase = nothing ? null : base;
  return {
    part: pieces.part,
    parts: pieces.parts,
    fileIndex: counted?.index ?? null,
    fileTotal: counted?.total ?? null,
    fileName: name,
    releaseBase,
    yenc,
    kind,
    role: name === null ? 'other' : roleOf(name),
    obfuscated: !nothing && obfuscated,
    usesPoster: releaseBase === null || obfuscated || isGeneric(foldBase(releaseBase)),
    identity: `${whole.slice(0, -text.length)}${ownText}\0${wholeRest}`,
    rule: `${pieces.counterRule}/${names.name?.rule ?? 'none'}/${rule}`,
  };
}

/**
 * `[2256/2574] - "7e808f5e537ffc3d" yEnc (2256/2574)`: some tools write the part counter where others count files. The total
 * tells it, not the number, so that all parts of a file are read alike: names of this kind differ from file to file anyway.
 */
const isEcho = (p: SubjectPieces, names: Names, named: boolean): boolean =>
  named &&
  !isSingle(p) &&
  names.counter !== null &&
  names.total === p.parts &&
  names.name !== null &&
  roleOf(names.name.name) === 'other';

const ENCODED = Buffer.from('=?');

/** The bytes whose part counter is looked for: encoded words decoded, blanks at both ends cut. */
export function plainSubject(bytes: Uint8Array): Uint8Array {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const plain = buffer.includes(ENCODED) ? Buffer.from(decodeWords(readText(buffer))) : buffer;
  let start = 0;
  let end = plain.length;
  while (start < end && plain[start] === 32) start++;
  while (end > start && plain[end - 1] === 32) end--;
  return plain.subarray(start, end);
}

/** The pieces of `bytes`, given what `counter.find` said about them. */
export function piecesOf(bytes: Uint8Array, counter: PartCounter): SubjectPieces {
  const charset = charsetOf(bytes);
  if (counter.rule === 'none') {
    return { before: readText(bytes, charset), after: '', part: null, parts: null, counterRule: 'none', bracket: '' };
  }
  const number = (start: number, end: number) => Number(readText(bytes.subarray(start, end), charset));
  return {
    before: readText(bytes.subarray(0, counter.start), charset),
    after: readText(bytes.subarray(counter.end), charset),
    part: number(counter.nStart, counter.nEnd),
    parts: number(counter.mStart, counter.mEnd),
    counterRule: counter.rule,
    bracket: counter.start < counter.nStart ? String.fromCharCode(bytes[counter.start]!) : '',
  };
}

/** Reads the bytes of a Subject header by the code that the pipeline runs. */
export function readSubject(bytes: Uint8Array): SubjectReading {
  const plain = plainSubject(bytes);
  const counter = new PartCounter();
  counter.find(plain, 0, plain.length);
  return readPieces(piecesOf(plain, counter));
}

import { looksObfuscated } from './random.ts';

/** The title that stands outside the file name, with banners, tags, request numbers and sizes left out. */

/** A size that stands alone, between separators or at an end; `32K 57.7MB + WUS` belongs to its title. */
const SIZE = /(?:^|[-<>|]|\s{2})[\s>]*\d+(?:[.,]\d+)?\s*(?:[kmgt]i?b|[kmgt]?bytes?|b)(?=\s*(?:[-<>|)]|\s{2}|$))/gi;
const YENC = /\byenc\b/gi;
const SITE =
  /\b(?:www\.|https?:)|\b[\w-]+\.(?:com|net|org|info|example|nl|de|ws|tk|to|me|tv|cc|eu|uk|nu|us|re)\b(?!\.[A-Za-z0-9])/i;
const CHANNEL = /@?ef-?net|#|^a\.b\.|\birc\b/i;
const BANNER =
  /\b(?:presents?|presented|sponsored|partner|powered|thnx|thanks|original poster|posted by|uploaded by|have fun|post voor u|attn|usenet index|nieuwsgroepen)\b|(?<![a-z])nzb(?![a-z])|^various\b|\boriginal$|^as req(?:uested)?$/i;
const TAG =
  /^(?:full|re-?post(?: .*)?|private|wtfnzb|encryptnzb|n3wz|compressed|uncut|req|request|nzb|tv|hdtv|nmr|flac|mp3|xvid|[a-z]{2})$/i;
/** What people write before the title of something they repost, answer or ask for. */
const LEAD =
  /^(?:\s*(?:(?:re|aw|fwd?|req|repost):[-\s]*|attn:[^-:]*(?:-\s+|(?=re:))|full \d+\s|filling req(?:uest)? for \w+\s*-\s*|reposting\b.*?\s-\s|[\p{L} ]{1,20} uppt\s))+/iu;
const EDGES = /^[\s\-–—:;,.|~=*_"'`<>\\/)\]}]+|[\s\-–—:;,.|~=_"`<>\\/([{]+$/g;

/** Something a person would call a title: two words, or one with inner separators; with letters. */
export function isTitle(text: string): boolean {
  if (!/\p{L}{2}/u.test(text) || /^[A-Za-z]:[\\/]/.test(text)) return false;
  if (TAG.test(text) || CHANNEL.test(text) || BANNER.test(text) || SITE.test(text)) return false;
  const words = text.match(/[\p{L}\p{N}]+/gu) ?? [];
  if (words.length < 2) return false;
  return text.length >= 6;
}

/** A name in the style of release groups: no blanks, dots or underscores between words, often `-GROUP`. */
const isReleaseName = (text: string): boolean =>
  /^\S+$/.test(text) && (text.match(/[._-]/g)?.length ?? 0) >= 2 && /\p{L}{2}/u.test(text) && !/^www\./i.test(text);

const trimEdges = (text: string): string => text.replace(EDGES, '').trim();

const BRACKETS = /<+([^<>]*)>+|(?<!=)>+([^<>]*)<+|\[([^[\]]*)\]?|\(([^()]*)\)|\{([^{}]*)\}/g;
/** `<<<Partner of …>>>`, `>>>Team for …<<<`: three angle brackets enclose a banner. */
const TRIPLE = /<{3,}[^<>]*>{3,}|>{3,}[^<>]*<{3,}/g;
/** An uploader's mark after the title: ` -Name-`. */
const MARK = /\s-\w+-[\s-]*$/;

/** Pieces in brackets, and what is left without them. */
function splitBrackets(text: string): { readonly inside: readonly string[]; readonly outside: string } {
  const inside: string[] = [];
  const outside = text.replace(BRACKETS, (_, a, b, c, d, e) => {
    inside.push(trimEdges(a ?? b ?? c ?? d ?? e ?? ''));
    return ' \u0001 ';
  });
  return { inside, outside };
}

const isNoise = (inner: string): boolean => {
  const text = trimEdges(inner);
  return (
    text === '' ||
    /^(?:req)?#?\s*\d+$/i.test(text) ||
    TAG.test(text) ||
    CHANNEL.test(text) ||
    BANNER.test(text) ||
    SITE.test(text) ||
    /^[A-Za-z][A-Za-z0-9]{0,11}$/.test(text) ||
    /^[A-Z]{1,4}(?:\.[A-Z]{1,4})+$/.test(text)
  );
};

/** Removes a bracket at the front that holds a tag, a number, a channel, a site; again and again. */
function dropLeadingTags(text: string): string {
  let rest = text;
  for (let round = 0; round < 8; round++) {
    const m = /^[\s\-:.~|]*(?:\[([^[\]]*)\]|\(([^()]*)\)|<+([^<>]*)>+|\{([^{}]*)\})[\s\-:|]*/.exec(rest);
    if (!m) return rest;
    const inner = m[1] ?? m[2] ?? m[3] ?? m[4] ?? '';
    const after = rest.slice(m[0].length);
    if (!isNoise(inner)) return rest;
    rest = after;
  }
  return rest;
}

/** The parts of a free text between ` - ` and `|`, without those that are sites, banners or numbers. */
function dropBannerParts(text: string): string {
  const parts = text.split(/\s+-+\s+|\s*\|\s*|-(?=\p{L}+\.\p{L})|(?<=presents)-/iu);
  if (parts.length < 2) return text;
  const bad = (part: string) => {
    const plain = trimEdges(part);
    return plain === '' || SITE.test(plain) || BANNER.test(plain) || /^\d+$/.test(plain) || TAG.test(plain);
  };
  let from = 0;
  let cut = 0;
  for (const part of parts) {
    const at = text.indexOf(part, cut);
    if (!bad(part)) break;
    cut = at + part.length;
    from = cut;
  }
  return from === 0 ? text : text.slice(from);
}

/** A quoted name with its yEnc before the name in question: what stands before it is another file's. */
const OTHER_FILE = /^.*"[^"]*"\s*yenc\b/i;

/**
 * The title in `text`, which is the subject left of the file name, the file counter blanked out; null when there is
 * none that a person could read.
 */
export function findTitle(text: string): string | null {
  const own = text.replace(OTHER_FILE, '');
  const upToCounter = own
    .replace(YENC, ' ')
    .replace(TRIPLE, ' ')
    .replace(SIZE, ' - ')
    .replace(LEAD, '')
    .replace(MARK, '');
  const stripped = trimEdges(dropBannerParts(withoutLead(dropLeadingTags(upToCounter))));
  const { inside, outside } = splitBrackets(upToCounter);
  const release = inside
    .filter((piece) => isReleaseName(piece) && !isNoise(piece))
    .sort((a, b) => b.length - a.length)[0];
  const open = trimEdges(outside.replaceAll('\u0001', ' '));
  if (release !== undefined && !isReleaseName(open)) return release;
  if (isTitle(stripped)) return stripped;
  const longest = inside.filter((piece) => isTitle(piece) && !isNoise(piece)).sort((a, b) => b.length - a.length)[0];
  return longest ?? null;
}

/** True when a title tells more than the file name does. */
export const isReadableTitle = (title: string): boolean => isTitle(title) && !looksObfuscated(title);

/** Words that stand in brackets on many posts and name nothing. */
export const isTag = (text: string): boolean => TAG.test(text);

/** A quoted title right of a file name that is a bare number: `"0865779768.epub" - 88 MB - "Title of the Book"`. */
export function findLateTitle(text: string): string | null {
  const quoted = /"([^"]+)"/.exec(text)?.[1]?.trim();
  return quoted !== undefined && isReadableTitle(quoted) ? quoted : null;
}

/** The text right of an unquoted, counted name when it is a title of three words or more: `name.mobi  author flood`. */
export function findTrailingTitle(text: string): string | null {
  const plain = trimEdges(text.replace(YENC, ' '));
  return plain.split(/\s+/).length >= 3 && /^[\p{L}\s]+$/u.test(plain) && isReadableTitle(plain) ? plain : null;
}

/** An unquoted name without the thanks and banners that its first ` - ` parts may be. */
export const withoutBanners = (name: string): string => trimEdges(dropBannerParts(name)) || name;

/** The token that stands alone left of the name: shared by all files of a set even where it tells nothing. */
export function findOpenToken(text: string): string | null {
  const open = trimEdges(splitBrackets(text.replace(YENC, ' ')).outside.replaceAll('\u0001', ' '));
  return /^[\w-]{5,}$/.test(open) ? open : null;
}

export const withoutLead = (text: string): string => text.replace(LEAD, '');

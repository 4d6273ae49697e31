/** What the end of a file name says about the file. */
export type FileRole = 'par2' | 'nfo' | 'volume' | 'archive' | 'helper' | 'media' | 'other';

const VOLUME = String.raw`part\d+|[r-z]\d{2,3}|\d{3}|vol\d+[+-]\d+|rev`;
const ARCHIVE = 'rar|7z|zip|tar|gz|bz2|xz|ace|arj|lzh|zst';
const HELPER =
  'par2|par|sfv|nfo|nzb|srr|srs|md5|sha1|diz|torrent|url|m3u8?|cue|log|ffp|nfo|txt|idx|sub|srt|sup|ass|xml';
const MEDIA =
  'mkv|avi|mp4|m4v|m4a|m4b|mov|wmv|mpe?g|divx|ogm|ogv|ts|m2ts|vob|ifo|bup|iso|img|bin|mds|mdf|nrg|mp3|flac|ogg|opus|wav|ape|wma|aac|ac3|dts|' +
  'jpe?g|png|gif|bmp|tiff?|webp|psd|pdf|epub|mobi|azw3?|lit|docx?|rtf|cbr|cbz|djvu|chm|html?|js|css|json|exe|msi|dmg|apk|ipa|' +
  'swf|flv|webm|rm|rmvb|3gp|asf|dat|db|ini|bdmv|mpls|clpi|ttf|xbe|gba|nds|nsp|xci|wbfs|pkg|deb|rpm|dll|mid|sit|hqx';

const KNOWN = new RegExp(String.raw`\.(?:${VOLUME}|${ARCHIVE}|${HELPER}|${MEDIA})$`, 'i');
/** A known extension anywhere, not glued to a further letter or digit: the end of an unquoted name. */
export const EXTENSION_IN_TEXT = new RegExp(
  String.raw`\.(?:${VOLUME}|${ARCHIVE}|${HELPER}|${MEDIA})(?![A-Za-z0-9]|\.[A-Za-z0-9])`,
  'gi',
);
/** Some extension, known or not; pure digits only as a split volume. */
const ANY = /\.(?=[A-Za-z0-9]*[A-Za-z])[A-Za-z0-9]{2,5}$/;

export const hasKnownExtension = (name: string): boolean => KNOWN.test(name.trim());
export const hasExtension = (name: string): boolean => KNOWN.test(name.trim()) || ANY.test(name.trim());

const IS_VOLUME = /\.(?:part\d+(?:\.(?:rar|rev))?|[r-z]\d{2,3}|\d{3}|rev)$/;
const IS_ARCHIVE = new RegExp(`\\.(?:${ARCHIVE})$`);
const IS_HELPER = new RegExp(`\\.(?:${HELPER})$`);
const IS_MEDIA = new RegExp(`\\.(?:${MEDIA})$`);

export const roleOf = (name: string): FileRole => {
  const lower = name.trim().toLowerCase();
  if (/\.par2?$/.test(lower)) return 'par2';
  if (/\.nfo$/.test(lower)) return 'nfo';
  if (IS_VOLUME.test(lower)) return 'volume';
  if (IS_ARCHIVE.test(lower)) return 'archive';
  if (IS_HELPER.test(lower)) return 'helper';
  return IS_MEDIA.test(lower) ? 'media' : 'other';
};

/** The name without the suffixes of volume, recovery and type, so that all files of a set come to the same. */
export function stripSuffixes(name: string): string {
  let base = name.trim();
  if (base.startsWith('.') && !hasLetterOrDigit(base.replace(KNOWN, ''))) return '';
  for (let round = 0; round < 6; round++) {
    let next = base.replace(KNOWN, '').trimEnd();
    // `.part.sfv`, `.part.nzb`: the word without its number.
    if (next !== base) next = next.replace(/\.part$/i, '');
    if (next === base || next === '') break;
    base = next;
  }
  return base;
}

/** Files of a disc's own structure: their names say nothing about the disc. */
const DISC_STRUCTURE = /\.(?:bdmv|mpls|clpi|m2ts|ifo|vob|bup)$/i;
/** `Artist - Album - 05 - Song`: what stands before the track number names the album. */
const TRACK = /^(.{6,}? - .+?) - \d{1,3} - /;
const SIDE_PICTURE = /[\s_-]+(?:front|back|cover|inlay|booklet|cd\d?|proof)$|\s*\(\d{1,3}(?:\/\d{1,4})?\)$/i;
/** `134511-rp-0.0`: sets that are named by a request number count their volumes by one digit. */
const NUMBERED = /^(\d{5,}(?:-\w{1,3})*-\d+)\.\d{1,2}$/;

/** The base that a file name gives its release, null when it names none. */
export function fileBase(name: string): string | null {
  const role = roleOf(name);
  if (DISC_STRUCTURE.test(name.trim())) return null;
  const base = stripSuffixes(name.split(/\s+`\s+/)[0] ?? name);
  const numbered = NUMBERED.exec(base);
  if (numbered) return numbered[1]!;
  if (role !== 'media') return hasLetterOrDigit(base) ? base : null;
  const track = TRACK.exec(base);
  const shared = (track?.[1] ?? base).replace(SIDE_PICTURE, '');
  return hasLetterOrDigit(shared) ? shared : null;
}

const hasLetterOrDigit = (text: string): boolean => /[\p{L}\p{N}]/u.test(text);

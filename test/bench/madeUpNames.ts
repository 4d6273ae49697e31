/**
 * Names for made-up posts. No release, group, poster or address here is a real one; the shapes (dots, tags, episode
 * numbers) are those of the trade, because the parser's work depends on them.
 */
import { ALPHABET, type Random } from './random.ts';

const WORDS = (
  'Autumn Harbor Silent Copper River Northern Lights Paper Castle Broken Compass Midnight Orchard Winter Signal Glass ' +
  'Meadow Iron Valley Hidden Lantern Crimson Atlas Golden Thunder Lonely Planet Amber Station Velvet Morning Distant ' +
  'Mirror Frozen Garden Electric Sparrow Marble Canyon Emerald Island Falling Bridge Secret Kitchen Wild Engine Blue ' +
  'Monday Stone Empire Last Voyage Summer Machine Burning Forest Quiet Revolution Ocean Detective Little Giants Dragon ' +
  'Academy Wolf Mountain Desert Queen Space Cargo Night Market Underground Open Water Chess Master Cooking Show History ' +
  'Documentary Grand Prix Highlights'
).split(' ');
const TEAMS = 'MOSSGATE KELPWORKS TiNFERN OAKLARK RUSKiN9 PLUMBOB WHiMBREL QUARRYLiT SEDGE7 HAZELTUFT'.split(' ');
const RESOLUTIONS = ['480p', '720p', '1080p', '2160p'];
const SOURCES = ['WEB-DL', 'WEBRip', 'BluRay', 'HDTV', 'DVDRip'];
const CODECS = ['x264', 'x265', 'H.264', 'HEVC', 'XviD'];
const AUDIO = ['DD5.1', 'AAC2.0', 'DTS', 'DDP5.1', 'FLAC'];

export const padded = (n: number, width: number): string => String(n).padStart(width, '0');

const year = (random: Random): number => random.int(1975, 2026);

/** A release name: an episode, a film, an album, or plain words. */
export function releaseName(random: Random): string {
  const word = () => random.pick(WORDS);
  const title = Array.from({ length: random.int(1, 4) }, word).join('.');
  const kind = random.next();
  const tail = () => `${random.pick(RESOLUTIONS)}.${random.pick(SOURCES)}`;
  if (kind < 0.45) {
    const episode = `S${padded(random.int(1, 15), 2)}E${padded(random.int(1, 24), 2)}`;
    return `${title}.${episode}.${tail()}.${random.pick(AUDIO)}.${random.pick(CODECS)}-${random.pick(TEAMS)}`;
  }
  if (kind < 0.8) return `${title}.${year(random)}.${tail()}.${random.pick(CODECS)}-${random.pick(TEAMS)}`;
  if (kind < 0.92) {
    const medium = random.pick(['WEB', 'CD', 'VINYL']);
    return `${word()}_${word()}-${title.replaceAll('.', '_')}-${medium}-${year(random)}-${random.pick(TEAMS)}`;
  }
  return `${word()} ${word()} - ${title.replaceAll('.', ' ')} (${year(random)})`;
}

const letters = (random: Random, low: number, high: number) => random.text(random.int(low, high), ALPHABET.lower);

/** A From header as its three usual forms: name and address, address and name, random characters. */
export function posterName(random: Random): string {
  const form = random.next();
  const domain = () => `${letters(random, 4, 9)}.${random.pick(['example', 'invalid', 'test'])}`;
  if (form < 0.4) return `${random.pick(WORDS)}${random.int(1, 99)} <${letters(random, 5, 10)}@${domain()}>`;
  if (form < 0.7) return `${letters(random, 4, 9)}@${domain()} (${random.pick(WORDS)} ${random.pick(WORDS)})`;
  return randomPoster(random);
}

/** A From header that tells nothing. */
export function randomPoster(random: Random): string {
  const name = random.text(14, ALPHABET.base62);
  return `${name} <${random.text(14, ALPHABET.base62)}@${random.text(8, ALPHABET.base62)}.${letters(random, 3, 3)}>`;
}

/** A name that tells nothing: hex or base62. */
export const obfuscatedName = (random: Random): string =>
  random.text(random.int(18, 32), random.chance(0.5) ? ALPHABET.hex : ALPHABET.base62);

/** Subject and References of an article that is talk or spam. */
export function talk(random: Random): { readonly subject: string; readonly references: string } {
  const word = () => random.pick(WORDS);
  if (random.chance(0.5)) {
    const reference = () => `<${random.text(14, ALPHABET.base62)}@${letters(random, 8, 8)}.example>`;
    return {
      subject: `Re: ${word()} ${word()} ${word().toLowerCase()} ${word().toLowerCase()}?`,
      references: Array.from({ length: random.int(1, 5) }, reference).join(' '),
    };
  }
  const offer = `buy ${word().toLowerCase()} now ${random.int(10, 99)}% off`;
  return { subject: `>>> ${word()} ${word()} !!! ${offer} ${letters(random, 4, 9)} <<<`, references: '' };
}

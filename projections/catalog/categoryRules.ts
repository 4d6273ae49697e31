/**
 * How a release gets its category: the first rule that holds. First KINDS tells what it is, then the kind's own table in
 * LEAF_RULES which leaf. To change how something is filed, change a row; what a row looks for is in categoryWords.ts.
 */
import { HASHED, MISC } from './categoryTree.ts';
import * as w from './categoryWords.ts';

/** A row holds when all that it asks for is there. `groups` are all groups of the release in one text, blanks around each. */
export interface Conditions {
  readonly words?: RegExp;
  /** A second pattern for the words. */
  readonly and?: RegExp;
  readonly without?: RegExp;
  /** For the name as it was written. */
  readonly name?: RegExp;
  readonly groups?: RegExp;
  /** For the category that a pre announced, in lower case; no other rule is asked when one of these holds. */
  readonly pre?: RegExp;
}
export type Kind = 'xxx' | 'tv' | 'movie' | 'audio' | 'book' | 'pc' | 'console' | 'hashed' | 'other';
export type KindRule = Conditions & { readonly is: Kind };
export type LeafRule = Conditions & { readonly leaf: number };

const ADULT_GROUP = /[. -](?:erotica|erotic|xxx|porn\w*|sex|adult|hentai|nudes?|lesbian|amateur)[. -]/;
const ANIME_GROUP = /[. -](?:anime|fansub\w*)[. -]/;
const SPORT_GROUP = /[. -](?:sports?|wrestling|nfl|nba|formula1|f1|soccer|football|mma)[. -]/;
const DOCU_GROUP = /[. -](?:documentar\w*|docus?|doku)[. -]/;
const TV_GROUP = /[. -](?:teevee|tv|tvseries|tvshows?|hdtv|television|series)[. -]/;
const MOVIE_GROUP =
  /[. -](?:movies?|moovee|films?|cinema|divx|xvid|x26[45]|dvdr?|vcd|svcd|blu-?ray|uhd|hdmovies?)[. -]/;
const AUDIOBOOK_GROUP = /[. -](?:audio-?books?|sounds\.audiobooks)[. -]/;
const AUDIO_GROUP = /[. -](?:sounds?|mp3|music|lossless|flac|cd\.lossless|mpeg3)[. -]/;
const COMIC_GROUP = /[. -](?:comics?|manga)[. -]/;
const MAGAZINE_GROUP = /[. -](?:magazines?|mags)[. -]/;
const TECHNICAL_GROUP = /[. -](?:e-?books?)\.technical[. -]/;
const BOOK_GROUP = /[. -](?:e-?books?|comics?|manga|magazines?|mags)[. -]/;
const CONSOLE_GROUP =
  /[. -](?:console|consoles|wii\w*|xbox\w*|ps[1-5]|psp|psx\w*|nintendo|nintendods|gamecube|nds|3ds)[. -]/;
const LINUX_GROUP = /[. -]linux[. -]/;
const IMAGE_GROUP = /[. -](?:iso|cd\.image|image\.cd)[. -]/;
const MAC_GROUP = /[. -](?:mac|macintosh|osx)[. -]/;
const GAME_GROUP = /[. -]games?[. -]/;
const PHONE_GROUP = /[. -](?:pda|phones?|mobile|ipod|android|iphone)[. -]/;
const PC_GROUP = /[. -](?:warez|0day|apps?|software|linux|iso|cd\.image|utilities|mac|games?|pda|phones?|android)[. -]/;

export const KINDS: readonly KindRule[] = [
  // A pre knows better than any name. In this order, since `TV-X264` is no film and `AUDIOBOOK` no book.
  { is: 'xxx', pre: /xxx|porn|adult|image?set/ },
  { is: 'tv', pre: /anime|\btv|hdtv|sport|docu/ },
  { is: 'audio', pre: /mp3|flac|music|audio|abook|mvid|mblu|mdvd/ },
  { is: 'book', pre: /book|comic|manga|\bmags?\b|magazine/ },
  { is: 'console', pre: /\bps[1-5vpx]|xbox|\bx360|wii|nsw|switch|\bnds|3ds|\bgba|\bngc|console/ },
  { is: 'pc', pre: /0-?day|app|games?|\biso|\bpda|mac|linux|mobile|phone|software|tutorial|\bdox\b|util/ },
  { is: 'movie', pre: /x26[45]|h26[45]|blu-?ray|\bbd|dvd|xvid|divx|movie|film|uhd|\bcam\b|\bvcd/ },

  { is: 'hashed', name: w.HASH_NAME },
  // Before XXX: some events are numbered with it.
  { is: 'tv', words: w.SPORT, and: w.VIDEO },
  { is: 'xxx', name: w.XXX_TAG },
  { is: 'xxx', words: w.XXX_WORD },
  { is: 'tv', name: w.ANIME_EPISODE },
  { is: 'tv', name: w.ANIME_CHECKSUM },
  { is: 'tv', name: w.ANIME_NUMBERED },

  // Formats that only one kind has. Sound beside a picture is the sound of the picture.
  { is: 'audio', words: w.AUDIOBOOK, without: w.VIDEO },
  { is: 'book', words: w.EBOOK, without: w.VIDEO },
  { is: 'book', words: w.COMIC, without: w.VIDEO },
  { is: 'book', name: w.COMIC_SHAPE },
  { is: 'audio', name: w.MUSIC_VIDEO_SHAPE },
  { is: 'audio', words: w.MUSIC_VIDEO },
  // The one sound that names a picture's disc.
  { is: 'audio', words: /\bblu ?ray audio\b/ },
  { is: 'tv', words: w.EPISODE },
  { is: 'pc', words: w.LESSONS },
  { is: 'pc', words: w.CRACK },
  { is: 'audio', words: w.SOUND, without: w.VIDEO },

  { is: 'tv', words: w.EPISODE_BESIDE_VIDEO, and: w.VIDEO },
  { is: 'tv', words: w.SEASON, and: w.VIDEO },
  // Days of television have a source of the web as often as one of the air.
  { is: 'tv', words: /\b(?:19|20)\d{2} \d{2} \d{2} (?:\S+ ){0,8}?(?:web|hdtv)\b/, without: w.SOUND },
  // A film that was taken from television carries its year.
  { is: 'movie', words: w.YEAR, and: /\bhdtv ?rip\b/ },
  { is: 'tv', words: w.TV_SOURCE },
  { is: 'tv', words: w.DOCUMENTARY, and: w.VIDEO },
  { is: 'xxx', groups: ADULT_GROUP },
  { is: 'tv', groups: ANIME_GROUP },
  { is: 'tv', groups: SPORT_GROUP, words: w.VIDEO },
  { is: 'tv', groups: DOCU_GROUP },
  { is: 'tv', groups: TV_GROUP, words: w.VIDEO, without: w.YEAR },
  { is: 'movie', words: w.VIDEO },

  { is: 'console', words: w.CONSOLE },
  { is: 'tv', words: w.SEASON, without: w.GAME },
  { is: 'audio', name: w.MUSIC_SHAPE },
  { is: 'audio', name: w.RADIO_SHAPE },
  { is: 'movie', words: w.MAYBE_VIDEO, and: w.YEAR },
  { is: 'book', words: w.MAGAZINE },
  { is: 'pc', words: w.SYSTEM_IMAGE },
  { is: 'pc', words: w.ISO },
  { is: 'pc', words: w.OTHER_MOBILE },
  { is: 'pc', words: w.VERSION },
  { is: 'pc', words: w.GAME },
  { is: 'pc', words: w.ANY_ARCHITECTURE },

  // What the name does not tell, the groups may.
  { is: 'audio', groups: AUDIO_GROUP },
  { is: 'audio', groups: AUDIOBOOK_GROUP },
  { is: 'book', groups: BOOK_GROUP },
  { is: 'console', groups: CONSOLE_GROUP },
  { is: 'pc', groups: PC_GROUP },
  { is: 'tv', groups: TV_GROUP },
  { is: 'movie', groups: MOVIE_GROUP },

  { is: 'pc', words: w.MAC },
  { is: 'pc', words: w.ANDROID },
  { is: 'book', words: w.BOOK_TITLE },
  { is: 'pc', words: w.LINUX },
];

const XXX: readonly LeafRule[] = [
  { leaf: 6060, words: /\b(?:image ?sets?|imgset|photo ?sets?|pics|jpe?gs?)\b/, without: w.VIDEO },
  { leaf: 6060, groups: /[. -]pictures?[. -]/, without: w.VIDEO },
  { leaf: 6050, words: /\b(?:mega ?pack|packs?|site ?rip|collection)\b/ },
  { leaf: 6045, words: w.UHD },
  { leaf: 6090, words: /\bweb ?(?:dl|rip)\b/, and: w.HD_LINES },
  { leaf: 6080, words: /\b(?:480[pi]|540p|576[pi]|360p|sd)\b/ },
  { leaf: 6030, words: /\b(?:xvid|divx)\b/, without: w.HD_LINES },
  { leaf: 6010, words: w.DVD_DISC, without: w.HD_LINES },
  { leaf: 6020, words: /\bwmv\b/ },
  { leaf: 6040, words: w.HD_LINES },
  { leaf: 6040, words: /\b(?:[xh] ?26[45]|hevc|mp4|blu ?ray)\b/ },
  { leaf: 6010, words: /\bdvd(?:rip)?\b/ },
  { leaf: 6070 },
];

const TV: readonly LeafRule[] = [
  { leaf: 5070, pre: /anime/ },
  { leaf: 5060, pre: /sport/ },
  { leaf: 5070, name: w.ANIME_EPISODE },
  { leaf: 5070, name: w.ANIME_CHECKSUM },
  { leaf: 5070, name: w.ANIME_NUMBERED },
  { leaf: 5070, groups: ANIME_GROUP },
  { leaf: 5060, words: w.SPORT },
  { leaf: 5060, groups: SPORT_GROUP },
  { leaf: 5080, words: w.DOCUMENTARY },
  { leaf: 5080, groups: DOCU_GROUP },
  { leaf: 5020, words: w.FOREIGN },
  { leaf: 5020, name: w.FOREIGN_TAG },
  { leaf: 5020, name: w.FOREIGN_SCRIPT },
  { leaf: 5045, words: w.UHD },
  { leaf: 5010, words: w.WEB, and: w.HD_LINES },
  { leaf: 5090, words: w.X265, and: w.HD_LINES },
  { leaf: 5040, words: w.HD_LINES },
  { leaf: 5030, words: w.SD },
  { leaf: 5040, words: /\b(?:blu ?ray|hd ?dvd|bd ?(?:25|50))\b/ },
  // Without a number of lines broadcasts, discs and web releases are SD: those that are more always say so.
  { leaf: 5030, words: w.VIDEO },
  { leaf: 5030, words: w.MAYBE_VIDEO },
  { leaf: 5050 },
];

const MOVIE: readonly LeafRule[] = [
  { leaf: 2010, words: w.FOREIGN },
  { leaf: 2010, name: w.FOREIGN_TAG },
  { leaf: 2010, name: w.FOREIGN_SCRIPT },
  { leaf: 2045, words: w.UHD },
  { leaf: 2060, words: w.STEREO_3D },
  { leaf: 2050, words: w.BLURAY_DISC },
  { leaf: 2080, words: w.WEB, and: w.HD_LINES },
  { leaf: 2090, words: w.X265, and: w.HD_LINES },
  { leaf: 2040, words: w.HD_LINES },
  { leaf: 2030, words: w.SD },
  { leaf: 2070, words: w.DVD_DISC },
  { leaf: 2040, words: /\b(?:blu ?ray|hd ?dvd|hd ?rip|webhd)\b/ },
  { leaf: 2030, words: w.VIDEO },
  { leaf: 2030, words: /\b(?:web|web ?dl|cam|ts|r5|screener|avi)\b/ },
  { leaf: 2070, words: /\bdvd\b/ },
  { leaf: 2020 },
];

const AUDIO: readonly LeafRule[] = [
  { leaf: 3030, words: w.AUDIOBOOK },
  { leaf: 3030, groups: AUDIOBOOK_GROUP },
  { leaf: 3030, pre: /audio-?book|abook/ },
  { leaf: 3020, name: w.MUSIC_VIDEO_SHAPE },
  { leaf: 3020, words: w.MUSIC_VIDEO },
  { leaf: 3020, pre: /mvid|mblu|mdvd/ },
  { leaf: 3040, words: w.LOSSLESS },
  { leaf: 3040, pre: /flac|lossless/ },
  { leaf: 3010, words: w.MP3 },
  { leaf: 3010, pre: /mp3/ },
  { leaf: 3050, words: /\b(?:aac|ogg|m4a)\b/ },
  // Releases in the shape of the scene are MP3 unless they say FLAC.
  { leaf: 3010, name: w.MUSIC_SHAPE },
  { leaf: 3010, name: w.RADIO_SHAPE },
  { leaf: 3040, groups: /[. -](?:lossless|flac)[. -]/ },
  { leaf: 3010, groups: /[. -]mp3[. -]/ },
  { leaf: 3050 },
];

const BOOK: readonly LeafRule[] = [
  { leaf: 7030, pre: /comic|manga/ },
  { leaf: 7010, pre: /\bmags?\b|magazine/ },
  { leaf: 7030, words: w.COMIC },
  { leaf: 7030, name: w.COMIC_SHAPE },
  { leaf: 7030, groups: COMIC_GROUP },
  { leaf: 7010, words: w.MAGAZINE },
  { leaf: 7010, groups: MAGAZINE_GROUP },
  { leaf: 7060, words: w.FOREIGN },
  { leaf: 7060, name: w.FOREIGN_TAG },
  { leaf: 7060, name: w.FOREIGN_SCRIPT },
  { leaf: 7040, words: w.TECHNICAL },
  { leaf: 7040, groups: TECHNICAL_GROUP },
  { leaf: 7020, words: w.EBOOK },
  { leaf: 7020, pre: /e-?book/ },
  { leaf: 7020, words: w.BOOK_TITLE },
  { leaf: 7020, groups: /[. -]e-?books?[. -]/ },
  { leaf: 7050 },
];

const PC: readonly LeafRule[] = [
  { leaf: 4010, words: w.LESSONS },
  { leaf: 4060, words: w.IOS },
  { leaf: 4070, words: w.ANDROID },
  { leaf: 4040, words: w.OTHER_MOBILE },
  { leaf: 4030, words: w.MAC },
  { leaf: 4030, pre: /mac|osx/ },
  { leaf: 4030, groups: MAC_GROUP },
  { leaf: 4050, pre: /game|\bdox\b/ },
  { leaf: 4020, words: w.SYSTEM_IMAGE },
  { leaf: 4020, words: w.ISO },
  { leaf: 4020, pre: /\biso/ },
  // Ahead of the groups: keys and cracks are made for programs, and games have theirs built in.
  { leaf: 4010, words: w.CRACK },
  { leaf: 4050, words: w.GAME },
  { leaf: 4050, groups: GAME_GROUP },
  { leaf: 4020, groups: LINUX_GROUP },
  { leaf: 4020, groups: IMAGE_GROUP },
  { leaf: 4040, groups: PHONE_GROUP },
  { leaf: 4040, pre: /pda|phone|mobile/ },
  { leaf: 4010 },
];

const GAMES_OF_CONSOLES: readonly LeafRule[] = [
  { leaf: 1060, words: w.WIIWARE },
  { leaf: 1130, words: w.WIIU },
  { leaf: 1030, words: w.WII },
  { leaf: 1070, words: w.XBOX360, and: /\b(?:dlc|addon|add on)\b/ },
  { leaf: 1050, words: w.XBOX360 },
  { leaf: 1140, words: w.XBOX_ONE },
  { leaf: 1040, words: w.XBOX },
  { leaf: 1180, words: w.PS4 },
  { leaf: 1120, words: w.VITA },
  { leaf: 1080, words: w.PS3 },
  { leaf: 1110, words: w.N3DS },
  { leaf: 1010, words: w.NDS },
  { leaf: 1020, words: w.PSP },
  { leaf: 1130, groups: /wiiu/ },
  { leaf: 1030, groups: /wii/ },
  { leaf: 1050, groups: /xbox360/ },
  { leaf: 1040, groups: /xbox/ },
  { leaf: 1080, groups: /[. -]ps3[. -]/ },
  { leaf: 1180, groups: /[. -]ps4[. -]/ },
  { leaf: 1020, groups: /[. -]psp[. -]/ },
  { leaf: 1010, groups: /nintendods|[. -]nds[. -]/ },
  // Switch, PS5 and what is older than this tree.
  { leaf: 1090 },
];

/** The last row of each has no condition. */
export const LEAF_RULES: Readonly<Record<Kind, readonly LeafRule[]>> = {
  xxx: XXX,
  tv: TV,
  movie: MOVIE,
  audio: AUDIO,
  book: BOOK,
  pc: PC,
  console: GAMES_OF_CONSOLES,
  hashed: [{ leaf: HASHED }],
  other: [{ leaf: MISC }],
};

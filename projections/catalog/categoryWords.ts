/**
 * What the rules of categoryRules.ts look for. Patterns without a note are for the words of a name: lower case, one space
 * for whatever stood between them (`WEB-DL.H.264` is `web dl h 264`). Posters choose what is matched, so no pattern may
 * repeat a repetition: each takes a time that grows with the name's length alone.
 */

export const YEAR = /\b(?:19[2-9]\d|20[0-4]\d)\b/;

/** HD by number. 2160p is not among them: it has leaves of its own. */
export const HD_LINES = /\b(?:720p?|1080[pi]?|1440p)\b/;
export const UHD = /\b(?:2160p|4320p|uhd|4k)\b/;
const CODEC = 'x26[45]|h ?26[456]|hevc|av1|xvid|divx|vc ?1|mpeg2|avc';
const SOURCE =
  'hdtv|hdtvrip|pdtv|dsr|tvrip|satrip|dvbrip|dvdrip|dvdscr|dvd ?r|dvd[59]|bdrip|brrip|bdremux|bluray|blu ray|hd ?dvd|' +
  'hdrip|web ?rip|webhd|camrip|hdcam|telesync|hdts|vhsrip|remux';
/** Says by itself that this is a picture that moves. `4k` and `web` do not: programs and music have them as well. */
export const VIDEO = new RegExp(`\\b(?:\\d{3,4}[pi]|uhd|${CODEC}|${SOURCE})\\b`);
/** Of audio and video alike, or in the titles of both; counts only where a year or a group says more. */
export const MAYBE_VIDEO = /\b(?:web|web ?dl|dvd|cam|ts|r5|screener|mkv|avi|mp4|wmv|m2ts|vob)\b/;
export const X265 = /\b(?:x265|h ?265|hevc)\b/;
export const WEB = /\b(?:web|web ?dl|web ?rip|webhd)\b/;
/** Codecs and sources that are SD unless a number of lines says otherwise. */
export const SD =
  /\b(?:480[pi]|540p|576[pi]|360p|xvid|divx|dvdrip|dvdscr|bdrip|brrip|vhsrip|tvrip|satrip|dvbrip|pdtv|dsr)\b/;
export const DVD_DISC = /\b(?:dvd ?r|dvd[59]|full dvd|complete dvd|ntsc|pal|video ts|vob)\b/;
export const BLURAY_DISC =
  /\b(?:(?:complete|full|untouched|multi) (?:uhd )?blu ?ray|blu ?ray (?:us |eu |uk |jpn )?(?:avc|vc ?1|untouched|disc|iso)|bd ?(?:25|50|66|100|mv|iso|remux)|remux)\b/;
export const STEREO_3D = /\b3d (?:\S+ ){0,3}(?:h ?sbs|half|sbs|h ?ou|ou|1080p|720p|bluray|blu ray|mvc)\b/;

/** S01E02, S01E02E03, S01.E02, S2026E14, S01D03 (a disc), 1x02. `1920x1080` is none: a season has two digits there. */
export const EPISODE = /\bs\d{1,4} ?(?:e|ep|d)\d{1,4}(?:e\d{1,4}|\b)|\b\d{1,2}x\d{2,3}\b|\bs\d{1,2} episode \d/;
/** A whole season. `s10` alone may be a telephone, so that two digits count only from S01 to S09, or beside VIDEO. */
export const SEASON = /\bs0[1-9]\b|\bs\d{1,2} (?:s\d{1,2}|complete)\b|\b(?:seasons?|series|staffel|saison) \d{1,2}\b/;
/** Tells an episode only beside VIDEO: a day, E08, EP8, `2 of 5`, S12. */
export const EPISODE_BESIDE_VIDEO =
  /\b(?:19|20)\d{2} (?:0[1-9]|1[0-2]) (?:0[1-9]|[12]\d|3[01])\b|\be\d{2,4}\b|\be(?:p|pisode) ?\d{1,4}\b|\b\d{1,2} ?of ?\d{1,2}\b|\bs\d{2}\b|\b(?:complete|mini) series\b/;
export const TV_SOURCE = /\b(?:hdtv|pdtv|dsr|tvrip|satrip|dvbrip)\b/;

/** Of the name as written: `[Group] Title - 07 …`, or a first bracket and the checksum that fansubs carry. */
export const ANIME_EPISODE = /^\[(?!\d)[^\]]{2,40}\][ ._].{1,200}?[ ._]-[ ._]\d{2,4}(?:v\d)?(?=[ ._([]|$)/;
export const ANIME_CHECKSUM = /^\[(?!\d)[^\]]{2,40}\].{1,300}?[[(][0-9A-Fa-f]{8}[\])]/;
/** A title and its number before a checksum, without a fansub's bracket in front. */
export const ANIME_NUMBERED = / - \d{2,4}(?:v\d)? (?:[[(][^\])]{1,30}[\])] ?){0,3}[[(][0-9A-F]{8}[\])]/;

/** Leagues and events. All need VIDEO beside them: the games that bear the same names have none. */
export const SPORT =
  /\b(?:nfl|nba|nhl|mlb|ncaa[fb]?|mls|wnba|wwe|aew|ufc|bellator|nxt|tna|wrestlemania|super ?bowl|formula ?[1e23]|f1 \d{4}|moto ?gp|moto[23]|wsbk|nascar|indycar|wrc|dtm|uefa|fifa world cup|epl|premier league|champions league|europa league|la liga|laliga|bundesliga|serie a|ligue 1|eredivisie|six nations|super rugby|nrl|afl \d{4}|ipl|test cricket|t20|atp|wta|wimbledon|us open|roland garros|ryder cup|pga tour|tour de france|giro d ?italia|vuelta|olympics?|paralympics|grand prix|world cup|snooker|darts)\b/;
export const DOCUMENTARY =
  /\b(?:docu|doku|documentary|documentaries|docuseries|docudrama|docu drama|dokumentation|natgeo|nat geo|national geographic|bbc horizon|discovery channel|history channel)\b/;

/** Of the name as written: XXX as a word of its own, but not the first one, which is the title of some films. */
export const XXX_TAG = /[^A-Za-z0-9](?:XXX|xxx|Xxx)(?![A-Za-z0-9])/;
export const XXX_WORD =
  /\b(?:porn|porno|hentai|onlyfans|milfs?|gangbang|blowjobs?|creampies?|bukkake|deepthroat|cumshots?|handjobs?|threesome|camwhores?|jav uncensored|uncensored jav|adult dvd)\b/;

/** Languages but English, in any case. A title may hold one, so the rules ask what stands beside it. */
const LANGUAGE =
  'german|french|truefrench|vostfr|italian|spanish|castellano|latino|dutch|flemish|danish|swedish|norwegian|finnish|polish|' +
  'czech|hungarian|russian|portuguese|brazilian|turkish|greek|hebrew|arabic|korean|japanese|chinese|mandarin|cantonese|' +
  'hindi|tamil|telugu|thai|vietnamese|romanian|bulgarian|ukrainian|icelandic';
const BEHIND_LANGUAGE = `(?:dl |dubbed |subbed |dub |ml |ac3 |ac3d |eac3 |eac3d |dts |dtsd |aac |md |ld |ws |internal )*`;
/** A language right behind the year, or right before what describes the recording. */
export const FOREIGN = new RegExp(
  `\\b(?:19|20)\\d{2} (?:${LANGUAGE})\\b|\\b(?:${LANGUAGE}) ${BEHIND_LANGUAGE}(?:\\d{3,4}[pi]|dl|dubbed|subbed|web|uhd|complete|pal|ntsc|ebook|epub|pdf|retail|${CODEC}|${SOURCE})\\b`,
);
/** Of the name as written: tags in the capitals that only tags have, and scripts that are not Latin. */
export const FOREIGN_TAG =
  /(?<![A-Za-z])(?:GERMAN|FRENCH|TRUEFRENCH|VOSTFR|[Ii]TAL[Ii]AN|SPAN[Ii]SH|CASTELLANO|LATiNO|DUTCH|FLEM[Ii]SH|DAN[Ii]SH|SWED[Ii]SH|NORWEG[Ii]AN|F[Ii]NN[Ii]SH|POL[Ii]SH|CZECH|HUNGAR[Ii]AN|RUSS[Ii]AN|PORTUGUESE|TURK[Ii]SH|KOREAN|JAPANESE|CH[Ii]NESE|H[Ii]ND[Ii])(?![A-Za-z])/;
export const FOREIGN_SCRIPT =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Thai}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]{2}/u;

export const AUDIOBOOK =
  /\b(?:audio ?books?|unabridged|abridged|m4b|h(?:ö|oe)rbuch|h(?:ö|oe)rspiel|luisterboek|abook|read by|narrated by|nmr)\b/;
export const LOSSLESS =
  /\b(?:flac|alac|lossless|wavpack|sacd|dsd(?:64|128|256)?|24 ?bit|24 (?:44|48|88|96|176|192)|dvd ?audio|blu ?ray audio)\b/;
export const MP3 = /\b(?:mp3|v0|v2|vbr|cbr|\d{2,3} ?kbps|320 ?k)\b/;
/** Formats of sound, and words that only recordings carry. */
export const SOUND =
  /\b(?:mp3|flac|alac|lossless|wavpack|sacd|dsd(?:64|128|256)?|24 ?bit|24 (?:44|48|88|96|176|192)|vbr|cbr|\d{2,3} ?kbps|aac|ogg|m4a|cdda|discography|soundtrack|vinyl|mixtape|dvd ?audio|blu ?ray audio|official audio)\b/;
/** Of the name as written, how music is named: `Artist-Title-(CAT01)-WEB-2024-GRP`: a year and a group, between dashes. */
export const MUSIC_SHAPE = /^[^-]{1,150}-.{1,250}-(?:19|20)\d{2}-[A-Za-z0-9_]{2,20}$/;
/** A broadcast that was recorded: `Name-Show-SAT-05-12-2024-GRP`. */
export const RADIO_SHAPE =
  /-(?:SAT|CABLE|DAB|FM|LINE|DVBS|DVBC|STREAM|WEB)-\d{2}-\d{2}-(?:19|20)?\d{2}-[A-Za-z0-9_]{2,20}$/i;
/** A music video: the same shape with a codec of pictures before the year, or words of its own. */
export const MUSIC_VIDEO_SHAPE =
  /-(?:x26[45]|h26[45]|hevc|xvid|svcd|mpeg2?|dvdrip|ddc)-(?:19|20)\d{2}-[A-Za-z0-9_]{2,20}$/i;
export const MUSIC_VIDEO = /\b(?:mblu ?ray|mdvdr|mvid|music videos?|musicvideos?)\b/;

export const COMIC = /\b(?:cbr|cbz|cb7|comics?|manga|graphic novel)\b/;
/** How scanned comics are named: a year and `(digital)` behind a number. Of the name as written. */
export const COMIC_SHAPE = /\b\d{2,4} (?:\(of \d{1,2}\) )?\((?:19|20)\d{2}\) \((?:[Dd]igital|c2c|[Ww]ebrip)/;
export const EBOOK = /\b(?:e ?books?|epub|mobi|azw3?|pdf|djvu|lit|fb2|kindle)\b/;
export const BOOK_TITLE = /\b(?:\d{1,2}(?:st|nd|rd|th) ed(?:ition)?|handbook|textbook|paperback|hardcover|novella)\b/;
const MONTH = 'january|february|march|april|may|june|july|august|september|october|november|december';
export const MAGAZINE = new RegExp(
  `\\b(?:magazines?|magazin|newspaper|issue \\d{1,4}|(?:${MONTH}) (?:\\d{1,2} )?(?:19|20)\\d{2})\\b`,
);
export const TECHNICAL =
  /\b(?:programming|python|javascript|typescript|java|kubernetes|docker|algorithms?|machine learning|deep learning|data science|engineering|mathematics|calculus|algebra|physics|chemistry|anatomy|anatomic|diagnosis|linux|unix|sql|networks?|security|electronics|statistics|packet)\b/;

/** Lessons on video are sold as programs and filed with them. */
export const LESSONS = /\b(?:tutorials?|bookware|udemy|pluralsight|skillshare|video training|masterclass)\b/;
export const CRACK =
  /\b(?:keygen|keymaker|regged|cracked|keyfilemaker|(?:incl|with) (?:\S+ )?(?:crack|patch|serials?|key|keygen|tool|loader|activator)|readnfo patch|win(?:all|32|64|x64|x86)|multilingual|nocd|portable)\b/;
export const VERSION =
  /\bv ?\d{1,5} \d{1,5}\b|\bbuild \d{2,8}\b|\bx(?:64|86)\b|\b\d{1,3} \d{1,4} \d{1,6} x(?:32|64|86)\b/;
const ARCHITECTURE = 'amd64|x86 64|arm64|aarch64|armv7|armhf|i[36]86|riscv64|ppc64(?:le|el)?|s390x';
export const ANY_ARCHITECTURE = new RegExp(`\\b(?:${ARCHITECTURE})\\b`);
const DISTRIBUTION =
  'ubuntu|kubuntu|xubuntu|lubuntu|debian|fedora|centos|rhel|rocky linux|almalinux|opensuse|archlinux|arch linux|manjaro|' +
  'gentoo|slackware|linux ?mint|kali|tails|mageia|nixos|alpine|freebsd|openbsd|netbsd|dragonfly|proxmox|truenas|openwrt|raspbian';
const MEDIUM =
  'iso|netinst|live|desktop|server|workstation|install|installer|boot|netboot|dvd\\d?|cd\\d?|minimal|image|usb';
/** An image of a system: one that is known and what it is for, or `linux` and what it is for. */
export const SYSTEM_IMAGE = new RegExp(
  `\\b(?:${DISTRIBUTION}|linux|bsd) (?:\\S+ ){0,8}?(?:${ARCHITECTURE}|${MEDIUM})\\b`,
);
export const ISO = /\biso\b/;
export const LINUX = /\blinux\b/;
export const MAC = /\b(?:mac ?os|mac ?osx|os ?x|dmg|for mac|macintosh)\b/;
export const IOS = /\b(?:ios|iphone|ipad|ipod touch|ipa)\b/;
export const ANDROID = /\b(?:android|apk)\b/;
export const OTHER_MOBILE =
  /\b(?:symbian|s60v\d|j2me|windows mobile|windows phone|wp[78]|blackberry|pocket ?pc|ppc|palm ?os|garmin|tomtom|igo|navigon)\b/;
export const GAME =
  /\b(?:gog|steam ?rip|(?:update|hotfix|patch) (?:v ?)?\d|dlc|crackfix|goty|game of the year|multi\d{1,2}|trainer|steam|2k\d{2})\b/;

export const NDS = /\b(?:nds|nintendo ?ds|dsi)\b/;
export const N3DS = /\b3ds\b/;
export const PSP = /\b(?:psp|psn psp)\b/;
export const WII = /\bwii\b/;
export const WIIWARE = /\b(?:wiiware|wii vc|wii virtual console)\b/;
export const WIIU = /\bwii ?u\b/;
export const XBOX = /\bxbox\b/;
export const XBOX360 = /\b(?:xbox ?360|x360|xblarcade|xbla)\b/;
export const XBOX_ONE = /\b(?:xbox ?one|xb1)\b/;
export const PS3 = /\bps3\b/;
export const PS4 = /\bps4\b/;
export const VITA = /\b(?:psv|ps ?vita)\b/;
export const CONSOLE =
  /\b(?:nds|nintendo ?ds|dsi|3ds|psp|wii|wiiware|wii ?u|xbox|xbox ?360|x360|xbla|xblarcade|xbox ?one|xb1|xbsx|ps[2345x]|psv|ps ?vita|psn|nsw|nsw2|nintendo switch|switch nsp|gba|ngc|gamecube|dreamcast|n64)\b/;

/** Of names as written that are nothing but digits of a hash or of a random number. */
export const HASH_NAME =
  /^(?:[0-9a-f]{16,}|[0-9A-F]{16,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[A-Za-z0-9+/]{40,}={0,2})$/;

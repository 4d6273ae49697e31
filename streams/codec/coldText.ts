import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { ByteReader, ByteWriter } from './bytes.ts';
import { compressFrame, expandFrame, zstdReady } from './compression.ts';

/** How the texts of a chunk (subjects, posters, groups, constants and raw ids) are kept: the first byte. */
const STORED = 0;
/** Raw deflate primed with DICTIONARY. */
const PRIMED = 1;
/** A frame of `compression.ts`, for long texts: zstd where the encoding process had it. */
const FRAME = 2;

/** Above this a chunk's texts prime themselves. */
const PRIMED_LIMIT = 16 * 1024;
/** The longest texts that one chunk may have. */
export const MAX_COLD_BYTES = 32 * 1024 * 1024;

/**
 * What subjects, posters and ids of binaries groups are full of, the commonest last, where deflate reaches it with the
 * shortest distances. Part of version 1 of the chunk format: another dictionary needs another first byte.
 */
const DICTIONARY = Buffer.from(
  [
    '@news.astraweb.com@giganews.com@gopoststuff.newsup@ngPost.com <CPP-gebruiker@domein.invalid>Yenc@power-post.org ',
    '(Yenc-PP-A&A) yEncBin <Yenc-Bin@yenc.org>JBinUp.local@JBinDown.local@camelsystem-powerpost.local@powerpost2000AA.local',
    '.local@nyuu@ngPost.info.net>.org>.com>@usenet.com@example.com <poster@nobody.invalid>',
    'alt.binaries.sounds.mp3.lossless.flac.complete_cd alt.binaries.documentaries alt.binaries.e-book.technical.flood',
    'alt.binaries.dvd.image.highspeed alt.binaries.console.ps3 alt.binaries.cores alt.binaries.erotica.divx alt.binaries.nl ',
    'alt.binaries.town alt.binaries.ath alt.binaries.frogs alt.binaries.big alt.binaries.bloaf alt.binaries.b4e alt.binaries.mom',
    'alt.binaries.warez alt.binaries.x264 alt.binaries.test alt.binaries.misc alt.binaries.tv alt.binaries.hdtv.x264 ',
    'alt.binaries.mp3 alt.binaries.games alt.binaries.moovee alt.binaries.movies alt.binaries.multimedia alt.binaries.teevee',
    'alt.binaries.boneless',
    'Re: Req: Attn: Repost: (????) [FULL]-[#a.b.teevee@EFNet]-[#a.b.moovee]-[ newsgroups ]-[ The.Documentary.Season.Complete',
    '.German.French.Dutch.MULTi.NORDiC.SUBBED.REPACK.PROPER.INTERNAL.LIMITED.UNRATED.EXTENDED.iNTERNAL.DVDRip.XviD-',
    '.2010.2011.2012.2013.2014.2015.2016.2017.2018.2019.2020.2021.2022.2023.2024.2025.2026',
    '.480p.2160p.UHD.HDR.DV.720p.HDTV.WEBRip.AMZN.NF.DDP5.1.Atmos.DTS-HD.MA.5.1.FLAC.AAC2.0.DD5.1.H.265.HEVC.x265-',
    '.BluRay.1080p.WEB-DL.DDP5.1.H.264-.x264-',
    '.S02E10.S03E04.S01E01.E02.E03.E04.E05.E06.E07.E08.E09.sample.mkv.mp4.avi.iso.mp3.flac.zip.epub.nzb.jpg.txt',
    '.vol127+73.par2.vol063+64.par2.vol031+32.par2.vol015+16.par2.vol007+08.par2.vol003+04.par2.vol001+02.par2.vol000+01.par2',
    '.par2" yEnc (.nfo" yEnc (.sfv" yEnc (.7z.001" yEnc (.r00" yEnc (.r01.r02.rar" yEnc (.part001.rar" yEnc (',
    '.part10.rar" yEnc (.part02.rar" yEnc (.part01.rar" yEnc (of/',
    ' yEnc (/1) "yEnc (/[1/8] - "[01/10] - "[001/112] - "[02/35] - "[01/24] - "',
  ].join('\n'),
  'latin1',
);

const prime = (bytes: Uint8Array): Uint8Array =>
  deflateRawSync(bytes, { level: 6, windowBits: 12, memLevel: 5, dictionary: DICTIONARY });

const chooseCold = (bytes: Uint8Array): { how: number; content: Uint8Array } => {
  const long = bytes.length > PRIMED_LIMIT || (bytes.length > PRIMED_LIMIT / 4 && zstdReady());
  const content = bytes.length === 0 ? bytes : long ? compressFrame(bytes) : prime(bytes);
  if (content.length >= bytes.length) return { how: STORED, content: bytes };
  return { how: long ? FRAME : PRIMED, content };
};

/**
 * Writes the texts: how, raw length, stored length, content. RangeError above MAX_COLD_BYTES. `plain`: as they are, for a
 * payload that is compressed together with many others later on.
 */
export const writeCold = (out: ByteWriter, bytes: Uint8Array, plain = false): void => {
  if (bytes.length > MAX_COLD_BYTES) throw new RangeError(`${bytes.length} bytes of texts in a chunk`);
  const { how, content } = plain ? { how: STORED, content: bytes } : chooseCold(bytes);
  out.varint(content.length * 3 + how);
  if (how !== STORED) out.varint(bytes.length);
  out.raw(content);
};

const unprime = (source: ByteReader, content: Uint8Array, rawLength: number): Uint8Array => {
  try {
    return inflateRawSync(content, { windowBits: 15, maxOutputLength: Math.max(1, rawLength), dictionary: DICTIONARY });
  } catch (error) {
    throw source.corrupt('malformed', `texts: ${(error as Error).message}`);
  }
};

export const readCold = (source: ByteReader): Uint8Array => {
  const packed = source.count(3 * MAX_COLD_BYTES + 2, 'bytes of texts');
  const how = packed % 3;
  const size = Math.floor(packed / 3);
  if (how === STORED) return source.raw(size);
  const rawLength = source.count(MAX_COLD_BYTES, 'bytes of texts');
  const content = source.raw(size);
  const raw = how === PRIMED ? unprime(source, content, rawLength) : expandFrame(content, MAX_COLD_BYTES, source.codec);
  if (raw.length !== rawLength) throw source.corrupt('malformed', 'texts of another length');
  return raw;
};

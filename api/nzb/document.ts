import type { Segment } from '../../streams/records.ts';
import { closeTag, openTag, parentTag, textTag, XML_DECLARATION } from '../xml.ts';
import type { NzbFile } from './mergeFiles.ts';

const DOCTYPE = '<!DOCTYPE nzb PUBLIC "-//newzBin//DTD NZB 1.1//EN" "http://www.newzbin.com/DTD/nzb/nzb-1.1.dtd">\n';
/** Readers skip a segment that says less than 1 byte or more than this. */
const SEGMENT_BYTES_MAX = 8_388_607;

export interface NzbHead {
  readonly title: string;
  readonly category: string;
}

/** The subject as the server had it for one part: the counter is put back where it stood. */
export function subjectOfPart(file: Pick<NzbFile, 'subject' | 'partAt' | 'partWidth'>, part: number): string {
  if (file.partAt < 0) return file.subject;
  const counter = String(part).padStart(file.partWidth, '0');
  return `${file.subject.slice(0, file.partAt)}${counter}${file.subject.slice(file.partAt)}`;
}

const segmentTag = (s: Segment): string =>
  textTag('segment', s.messageId, {
    bytes: Math.min(SEGMENT_BYTES_MAX, Math.max(1, s.bytes)),
    number: s.part,
  });

function fileTag(file: NzbFile, segments: readonly Segment[]): string {
  const subject = subjectOfPart(file, segments[0]!.part);
  return [
    `${openTag('file', { poster: file.poster, date: Math.floor(file.postedAt / 1000), subject })}\n`,
    parentTag(
      'groups',
      {},
      file.groups.map((group) => textTag('group', group)),
    ),
    `\n<segments>\n`,
    ...segments.map((s) => `${segmentTag(s)}\n`),
    `</segments>\n${closeTag('file')}\n`,
  ].join('');
}

/** What a downloader can use: numbers of 1 or more. A file without a counter is one segment, number 1. */
function usable(file: NzbFile): readonly Segment[] {
  if (file.partAt >= 0) return file.segments.filter((s) => s.part >= 1);
  return file.segments.slice(0, 1).map((s) => ({ ...s, part: 1 }));
}

/** The NZB in pieces, one a file; the same release always gives the same bytes. A file without segments is left out. */
export function* nzbDocument(head: NzbHead, files: readonly NzbFile[]): Generator<string> {
  yield `${XML_DECLARATION}${DOCTYPE}${openTag('nzb', { xmlns: 'http://www.newzbin.com/DTD/2003/nzb' })}\n`;
  const metas = [
    textTag('meta', head.title, { type: 'title' }),
    textTag('meta', head.title, { type: 'name' }),
    textTag('meta', head.category, { type: 'category' }),
  ];
  yield `${parentTag('head', {}, metas)}\n`;
  for (const file of files) {
    const segments = usable(file);
    if (segments.length > 0) yield fileTag(file, segments);
  }
  yield `${closeTag('nzb')}\n`;
}

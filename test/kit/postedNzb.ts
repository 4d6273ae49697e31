import type { Posted, PostedFile } from './poster.ts';

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const xml = (text: string): string => text.replace(/[&<>"]/g, (char) => ENTITIES[char] ?? char);

const fileElement = (posted: Posted, file: PostedFile, seconds: number): string[] => [
  ` <file poster="${xml(posted.poster)}" date="${seconds}" subject="${xml(file.subject)}">`,
  `  <groups>${posted.groups.map((group) => `<group>${xml(group)}</group>`).join('')}</groups>`,
  '  <segments>',
  ...file.segments.map((s) => `   <segment bytes="${s.bytes}" number="${s.part}">${xml(s.messageId)}</segment>`),
  '  </segments>',
  ' </file>',
];

/** An NZB written from the truth about a post: what a perfect indexer would give. `postedAt` in ms since 1970. */
export function postedNzb(posted: Posted, postedAt: number): string {
  const files = posted.files.filter((file) => file.segments.length > 0);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE nzb PUBLIC "-//newzBin//DTD NZB 1.1//EN" "http://www.newzbin.com/DTD/nzb/nzb-1.1.dtd">',
    '<nzb xmlns="http://www.newzbin.com/DTD/2003/nzb">',
    ...files.flatMap((file) => fileElement(posted, file, Math.floor(postedAt / 1000))),
    '</nzb>',
    '',
  ].join('\n');
}

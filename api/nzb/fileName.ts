/**
 * The download's file name. NZBGet takes everything after `=` unless it is quoted, names become folders, and `{{…}}`
 * would be read as a password: so quoted ASCII, without separators and braces.
 */
export function nzbFileName(title: string): string {
  const ascii = title
    .normalize('NFKD')
    .replace(/[^\x20-\x7e]/g, '')
    .replace(/[\\/:*?"<>|{}]/g, '_')
    .replace(/\s+/g, ' ')
    .replace(/^[. ]+|[. ]+$/g, '')
    .slice(0, 180);
  return `${ascii === '' ? 'release' : ascii}.nzb`;
}

export const contentDisposition = (title: string): string => `attachment; filename="${nzbFileName(title)}"`;

import { padded } from './madeUpNames.ts';

/**
 * How a subject is written. `counted`: `[01/17] - "file" yEnc (1/5)`. `request`: with a request number and the release
 * before it. `sized`: release first, file size last. `titled`: release first. `bare`: the file name alone.
 */
export type SubjectStyle = 'counted' | 'request' | 'sized' | 'titled' | 'bare';

export interface SubjectContext {
  readonly style: SubjectStyle;
  readonly release: string;
  /** The file name that is shown, obfuscated or not. */
  readonly fileName: string;
  readonly fileSize: number;
  /** From 1. */
  readonly file: number;
  readonly files: number;
  readonly part: number;
  readonly parts: number;
  /** Whether the part number is padded to the width of the total. */
  readonly padPart: boolean;
  /** `[123456]-[FULL]-[#a.b.example]`, for style `request`. */
  readonly request: string;
}

/** The subject of one article. */
export function subjectOf(c: SubjectContext): string {
  const width = Math.max(2, String(c.files).length);
  const counter = `[${padded(c.file, width)}/${padded(c.files, width)}]`;
  const part = c.padPart ? padded(c.part, String(c.parts).length) : c.part;
  const tail = `"${c.fileName}" yEnc (${part}/${c.parts})`;
  switch (c.style) {
    case 'counted':
      return `${counter} - ${tail}`;
    case 'request':
      return `${c.request}-[ ${c.release} ]-${counter} - ${tail}`;
    case 'sized':
      return `${c.release} ${counter} - ${tail} ${Math.round(c.fileSize)}`;
    case 'titled':
      return `${c.release} ${counter} - ${tail}`;
    case 'bare':
      return tail;
  }
}

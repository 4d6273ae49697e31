/** The column of each field in an overview line; column 0 is the article number. -1: not among the fields. */
export interface OverviewColumns {
  readonly subject: number;
  readonly from: number;
  readonly date: number;
  readonly messageId: number;
  readonly references: number;
  readonly bytes: number;
  readonly lines: number;
  /** -1 also where the server sends Xref without announcing it: then it is found by its name among the extras. */
  readonly xref: number;
}

export interface OverviewFormat {
  /** Field names behind the number as the RFC writes them, in lower case: `subject:`, `:bytes`, `xref:full`. */
  readonly fields: readonly string[];
  readonly columns: OverviewColumns;
  /** False when the server gave no usable list and the order of the RFC is assumed. */
  readonly stated: boolean;
}

const STANDARD = ['subject:', 'from:', 'date:', 'message-id:', 'references:', ':bytes', ':lines', 'xref:full'] as const;
/** A list without these describes no overview that could be indexed. */
const NEEDED = ['subject:', 'from:', 'date:', 'message-id:'] as const;

function normalise(line: string): string {
  const name = line.trim().toLowerCase();
  if (name === 'bytes:' || name === 'bytes') return ':bytes';
  if (name === 'lines:' || name === 'lines') return ':lines';
  return name;
}

function columnsOf(fields: readonly string[]): OverviewColumns {
  const column = (...names: string[]) => fields.findIndex((field) => names.includes(field)) + 1 || -1;
  return {
    subject: column('subject:', 'subject:full'),
    from: column('from:', 'from:full'),
    date: column('date:', 'date:full'),
    messageId: column('message-id:', 'message-id:full'),
    references: column('references:', 'references:full'),
    bytes: column(':bytes'),
    lines: column(':lines'),
    xref: column('xref:full', 'xref:'),
  };
}

export const STANDARD_FORMAT: OverviewFormat = Object.freeze({
  fields: STANDARD,
  columns: columnsOf(STANDARD),
  stated: false,
});

/** What LIST OVERVIEW.FMT said, line by line; the standard order when that cannot be used. */
export function parseOverviewFormat(lines: readonly string[]): OverviewFormat {
  const named = lines.map(normalise).filter((name) => name !== '');
  // Some servers list the article number, which every line starts with anyway.
  const fields = /^:?(?:number|article):?$/.test(named[0] ?? '') ? named.slice(1) : named;
  const usable = NEEDED.every((name) => fields.includes(name) || fields.includes(`${name}full`));
  return usable ? { fields, columns: columnsOf(fields), stated: true } : STANDARD_FORMAT;
}

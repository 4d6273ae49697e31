import { ArticleNumber, type Group, isGroup } from '../../streams/ids.ts';
import { wholeNumber } from './wholeNumber.ts';

/** One line of LIST ACTIVE. */
export interface ActiveGroup {
  readonly group: Group;
  readonly high: ArticleNumber;
  readonly low: ArticleNumber;
  /** `y`, `n`, `m`, `x`, `j`, `=other.group`; empty when the server left it out. */
  readonly status: string;
}

/** The lines of a piece of the list that name a usable group, and how many did not. */
export interface ActiveLines {
  readonly groups: readonly ActiveGroup[];
  readonly odd: readonly string[];
}

/** One line; null when it has no group name that NNTP and our subjects can carry, or no two marks. */
export function parseActiveLine(line: string): ActiveGroup | null {
  const [name = '', highText, lowText, status = ''] = line.trim().split(/[ \t]+/);
  const high = wholeNumber(highText);
  const low = wholeNumber(lowText);
  if (high === null || low === null || !isGroup(name) || name.includes('\ufffd')) return null;
  return { group: name, high: ArticleNumber(high), low: ArticleNumber(low), status };
}

/** Whole lines of a LIST ACTIVE reply, in the order of the server. Empty lines are odd too. */
export function parseActiveLines(lines: Buffer): ActiveLines {
  const groups: ActiveGroup[] = [];
  const odd: string[] = [];
  const text = lines.toString('utf8');
  for (const line of text.slice(0, text.endsWith('\r\n') ? -2 : undefined).split('\r\n')) {
    const parsed = parseActiveLine(line);
    if (parsed) groups.push(parsed);
    else odd.push(line.slice(0, 120));
  }
  return { groups, odd };
}

import { ArticleNumber } from '../../streams/ids.ts';
import { wholeNumber } from './wholeNumber.ts';

/** What a 211 reply says of a group. A mark that the server left out or garbled is null, never 0. */
export interface GroupMarks {
  /** The server's estimate of how many articles there are. */
  readonly count: number | null;
  readonly low: ArticleNumber | null;
  readonly high: ArticleNumber | null;
  /** True when the marks say that the group holds nothing; false when they say that it does; null when unknown. */
  readonly empty: boolean | null;
}

const article = (value: number | null): ArticleNumber | null => (value === null ? null : ArticleNumber(value));

function marks(count: number | null, low: number | null, high: number | null): GroupMarks {
  // RFC 3977 6.1.1.2 knows `0 1 0` and `0 0 0`. A count of 0 beside real marks is not believed: counts are estimates.
  const empty = low === null || high === null ? null : high < low || (low === 0 && high === 0);
  return { count, low: article(low), high: article(high), empty };
}

/** Reads the text behind `211`: `count low high group`, or what is left of it. */
export function parseGroupReply(text: string): GroupMarks {
  const tokens = text.trim().split(/\s+/);
  // The name ends the marks. Only all-digit or signed tokens can be marks; `3dfx.test` is a name.
  const named = tokens.findIndex((token) => !/^[-+]?\d+$/.test(token));
  const given = (named < 0 ? tokens : tokens.slice(0, named)).map(wholeNumber);
  const [a = null, b = null, c = null] = given;
  if (given.length >= 3) return marks(a, b, c);
  // Two numbers are the marks without a count; one alone could be any of the three.
  return given.length === 2 ? marks(null, a, b) : marks(null, null, null);
}

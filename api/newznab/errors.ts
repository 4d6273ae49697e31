import { emptyTag, XML_DECLARATION } from '../xml.ts';

/**
 * Newznab's error codes, their texts, and the HTTP status each is sent with. `get` is answered by status because
 * downloaders look at nothing else; the other functions answer 200 for what is the caller's own fault, because clients
 * throw on any other status before they read the code (sources: newznab.md section 6).
 */
const ERRORS = {
  100: { description: 'Incorrect user credentials (apikey)', status: 200, getStatus: 401 },
  102: { description: 'Insufficient privileges (apikey)', status: 200, getStatus: 403 },
  200: { description: 'Missing parameter', status: 200, getStatus: 400 },
  201: { description: 'Incorrect parameter', status: 200, getStatus: 400 },
  202: { description: 'No such function', status: 200, getStatus: 400 },
  203: { description: 'Function not available', status: 200, getStatus: 400 },
  300: { description: 'No such item', status: 200, getStatus: 404 },
  900: { description: 'Unknown error', status: 500, getStatus: 500 },
  910: { description: 'API temporarily unavailable', status: 503, getStatus: 503 },
} as const;

export type NewznabErrorCode = keyof typeof ERRORS;

/** Thrown by a function of the API; the route turns it into `<error code description/>`. */
export class NewznabError extends Error {
  override readonly name = 'NewznabError';
  readonly code: NewznabErrorCode;
  constructor(code: NewznabErrorCode, detail?: string) {
    super(detail ? `${ERRORS[code].description}: ${detail}` : ERRORS[code].description);
    this.code = code;
  }
}

export const statusOf = (code: NewznabErrorCode, isGet: boolean): number =>
  isGet ? ERRORS[code].getStatus : ERRORS[code].status;

export const errorDocument = (code: NewznabErrorCode, description: string): string =>
  `${XML_DECLARATION}${emptyTag('error', { code, description })}\n`;

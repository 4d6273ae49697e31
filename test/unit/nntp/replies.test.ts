import { describe, expect, it } from 'vitest';
import { parseActiveLine, parseActiveLines } from '../../../infra/nntp/activeList.ts';
import { parseGroupReply } from '../../../infra/nntp/groupMarks.ts';
import { parseCapabilities } from '../../../infra/nntp/login.ts';
import { parseOverviewFormat, STANDARD_FORMAT } from '../../../infra/nntp/overviewFormat.ts';
import { printable, refusal } from '../../../infra/nntp/refusal.ts';

describe('the reply to GROUP', () => {
  it.each([
    ['3 10 12 alt.test', { count: 3, low: 10, high: 12, empty: false }],
    ['0 1 0 alt.test', { count: 0, low: 1, high: 0, empty: true }],
    ['0 0 0 alt.test', { count: 0, low: 0, high: 0, empty: true }],
    ['0 11 10 alt.test', { count: 0, low: 11, high: 10, empty: true }],
    ['0 5 90 alt.test', { count: 0, low: 5, high: 90, empty: false }],
    ['7 2147483648 4294967301 alt.test', { count: 7, low: 2147483648, high: 4294967301, empty: false }],
    ['9007199254740991 1 9007199254740991 g', { count: 2 ** 53 - 1, low: 1, high: 2 ** 53 - 1, empty: false }],
    ['0000000003 0000000010 0000000012 g selected', { count: 3, low: 10, high: 12, empty: false }],
    ['-1 10 12 alt.test', { count: null, low: 10, high: 12, empty: false }],
    ['3 10 9007199254740993 g', { count: 3, low: 10, high: null, empty: null }],
    ['10 12 alt.test', { count: null, low: 10, high: 12, empty: false }],
    ['12 3dfx.test', { count: null, low: null, high: null, empty: null }],
    ['alt.test', { count: null, low: null, high: null, empty: null }],
    ['group selected', { count: null, low: null, high: null, empty: null }],
    ['', { count: null, low: null, high: null, empty: null }],
  ])('reads %j, and what is missing as unknown', (text, expected) => {
    expect(parseGroupReply(text)).toEqual(expected);
  });
});

describe('LIST ACTIVE', () => {
  it.each([
    ['alt.binaries.x 0000000012 0000000003 y', { group: 'alt.binaries.x', high: 12, low: 3, status: 'y' }],
    ['alt.big 4294967299 2147483650 m', { group: 'alt.big', high: 4294967299, low: 2147483650, status: 'm' }],
    ['alt.huge 9007199254740991 1 y', { group: 'alt.huge', high: 2 ** 53 - 1, low: 1, status: 'y' }],
    ['alt.alias 5 1 =alt.other', { group: 'alt.alias', high: 5, low: 1, status: '=alt.other' }],
    ['alt.bare 5 1', { group: 'alt.bare', high: 5, low: 1, status: '' }],
    ['alt.tab\t5  1 y  ', { group: 'alt.tab', high: 5, low: 1, status: 'y' }],
    ['alt.empty 0 1 y', { group: 'alt.empty', high: 0, low: 1, status: 'y' }],
  ])('reads %j', (line, expected) => expect(parseActiveLine(line)).toEqual(expected));

  it.each([
    '',
    'alt.x',
    'alt.x 5',
    'alt.x five 1 y',
    'alt.x -5 1 y',
    'alt.x 9007199254740992 1 y',
    '.x. 5 1 y',
    'a.*.b 5 1 y',
  ])('takes no group from %j', (line) => expect(parseActiveLine(line)).toBeNull());

  it('counts odd lines and reads the others', () => {
    const lines = Buffer.from('alt.a 2 1 y\r\nrubbish\r\n\r\nalt.\xff 2 1 y\r\nalt.b 4 3 n\r\n', 'latin1');
    const { groups, odd } = parseActiveLines(lines);
    expect(groups.map(({ group }) => group)).toEqual(['alt.a', 'alt.b']);
    expect(odd).toHaveLength(3);
  });
});

describe('LIST OVERVIEW.FMT', () => {
  const standard = ['Subject:', 'From:', 'Date:', 'Message-ID:', 'References:', ':bytes', ':lines'];

  it('maps the standard fields in any letter case, with Xref behind them', () => {
    const { columns, stated } = parseOverviewFormat([
      'SUBJECT:',
      'from:',
      'Date:',
      'MESSAGE-id:',
      'References:',
      'Bytes:',
      'Lines:',
      'Xref:FULL',
    ]);
    expect(stated).toBe(true);
    expect(columns).toEqual({ subject: 1, from: 2, date: 3, messageId: 4, references: 5, bytes: 6, lines: 7, xref: 8 });
  });

  it('drops a leading article number', () => {
    for (const first of [':number', 'Number:', ':article']) {
      expect(parseOverviewFormat([first, ...standard]).columns).toEqual(parseOverviewFormat(standard).columns);
    }
  });

  it('follows another order and extra fields', () => {
    const { columns, fields } = parseOverviewFormat([
      'From:',
      'Subject:',
      'Message-ID:',
      'Date:',
      ':bytes',
      'Path:full',
      'Xref:full',
    ]);
    expect(columns).toEqual({
      subject: 2,
      from: 1,
      date: 4,
      messageId: 3,
      references: -1,
      bytes: 5,
      lines: -1,
      xref: 7,
    });
    expect(fields).toContain('path:full');
  });

  it('knows no Xref column where none is announced', () => {
    expect(parseOverviewFormat(standard).columns.xref).toBe(-1);
  });

  it('falls back to the standard order when the list is empty or lacks what is needed', () => {
    for (const lines of [[], [''], ['Subject:', 'From:'], ['garbage']]) {
      expect(parseOverviewFormat(lines)).toBe(STANDARD_FORMAT);
    }
    expect(STANDARD_FORMAT.columns.xref).toBe(8);
    expect(STANDARD_FORMAT.stated).toBe(false);
  });
});

describe('CAPABILITIES', () => {
  it('are labels in upper case with their arguments', () => {
    const capabilities = parseCapabilities('VERSION 2\r\nreader\r\nCOMPRESS DEFLATE\r\n\r\n');
    expect(capabilities.get('COMPRESS')).toEqual(['DEFLATE']);
    expect([...capabilities.keys()]).toEqual(['VERSION', 'READER', 'COMPRESS']);
  });
});

describe('a refusal', () => {
  const server = { host: 'news.example', port: 563, secrets: ['s3cret', 'alice'] };
  const codeOf = (code: number, text = '', stage: 'login' | 'session' = 'session') => {
    const error = refusal({ code, text }, 'GROUP a.b', server, stage);
    return [error.code, error.fields.class];
  };

  it.each([
    [400, 'NNTP_SERVICE_UNAVAILABLE', 'transient'],
    [403, 'NNTP_SERVICE_UNAVAILABLE', 'transient'],
    [411, 'NNTP_NO_SUCH_GROUP', 'absent'],
    [412, 'NNTP_UNEXPECTED_REPLY', 'transient'],
    [420, 'NNTP_NO_SUCH_ARTICLE', 'absent'],
    [423, 'NNTP_NO_SUCH_ARTICLE', 'absent'],
    [430, 'NNTP_NO_SUCH_ARTICLE', 'absent'],
    [480, 'NNTP_AUTH_REJECTED', 'denied'],
    [481, 'NNTP_AUTH_REJECTED', 'denied'],
    [482, 'NNTP_AUTH_REJECTED', 'denied'],
    [483, 'NNTP_AUTH_REJECTED', 'denied'],
    [500, 'NNTP_COMMAND_UNSUPPORTED', 'unsupported'],
    [501, 'NNTP_UNEXPECTED_REPLY', 'unsupported'],
    [502, 'NNTP_SERVICE_UNAVAILABLE', 'transient'],
    [503, 'NNTP_COMMAND_UNSUPPORTED', 'unsupported'],
    [599, 'NNTP_SERVICE_UNAVAILABLE', 'transient'],
  ])('of %i is %s, class %s', (code, name, retryClass) => expect(codeOf(code)).toEqual([name, retryClass]));

  it('of 502 while logging in denies the account', () => {
    expect(codeOf(502, 'no permission', 'login')).toEqual(['NNTP_AUTH_REJECTED', 'denied']);
  });

  it.each([
    [400, 'Too many connections from your host'],
    [481, 'max simultaneous connections reached'],
    [482, 'connection limit exceeded'],
    [502, 'Too many connections'],
    [502, 'You have reached the maximum number of connections (20)'],
    [502, 'Authentication failed: too many concurrent sessions'],
  ])('that speaks of too many connections is that, whatever its code (%i %s)', (code, text) => {
    expect(codeOf(code, text, 'login')).toEqual(['NNTP_TOO_MANY_CONNECTIONS', 'busy']);
  });

  it('of another kind is not taken for too many connections', () => {
    expect(codeOf(502, 'connection refused by policy', 'login')[0]).toBe('NNTP_AUTH_REJECTED');
  });

  it('repeats no word of the account and no control characters', () => {
    expect(printable('alice\u0007 says s3cret\u0000!', server.secrets)).toBe('***  says *** !');
    const { message } = refusal({ code: 481, text: 'alice/s3cret is wrong' }, 'AUTHINFO PASS', server);
    expect(message).not.toMatch(/alice|s3cret/);
    expect(message).toContain('news.example:563');
  });
});

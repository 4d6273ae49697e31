import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DateMemo, parseDate } from '../../../processors/headers/date.ts';
import { overviewFormat, readLine, STANDARD_FORMAT } from '../../../processors/headers/lines.ts';

interface LineCase {
  readonly id: string;
  readonly line_base64: string;
  readonly note?: string;
  readonly expect?: {
    article: number;
    subject: string;
    from: string;
    date_iso: string | null;
    message_id: string;
    bytes: number;
    lines: number;
    xref: string | null;
  };
  readonly expect_reject?: string;
}

const cases = readFileSync(new URL('../../fixtures/overview-lines.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as LineCase);

const isoOf = (date: number | null) => (date === null ? null : new Date(date).toISOString().replace('.000Z', 'Z'));

describe('the overview line corpus', () => {
  it('has 46 cases', () => {
    expect(cases).toHaveLength(46);
  });

  it.each(cases)('$id is read as the corpus says', (c) => {
    const reading = readLine(Buffer.from(c.line_base64, 'base64'));
    if (c.expect === undefined) {
      expect(reading).toEqual({ ok: false, reason: c.expect_reject });
      return;
    }
    if (!reading.ok) throw new Error(`rejected: ${reading.reason}`);
    const { line } = reading;
    expect({
      article: line.article,
      subject: line.subject.trim(),
      from: line.from.trim(),
      date_iso: isoOf(line.date),
      message_id: line.messageId,
      bytes: line.bytes,
      lines: line.lines,
      xref: line.xref,
    }).toEqual({ ...c.expect, subject: c.expect.subject.trim(), from: c.expect.from.trim() });
  });
});

describe('line rules', () => {
  const line = (text: string) => readLine(Buffer.from(text, 'latin1'));
  const good = '1\ts\tf\tMon, 1 Jan 2024 00:00:00 +0000\t<a@b>\t\t5\t6';

  it('takes numbers up to 2^53 - 1 and refuses greater ones', () => {
    expect(line(good.replace('1', '9007199254740991'))).toMatchObject({ ok: true, line: { article: 2 ** 53 - 1 } });
    expect(line(good.replace('1', '9007199254740993'))).toEqual({ ok: false, reason: 'bad_article_number' });
  });

  it('refuses ids with blanks, brackets inside, or more than 250 octets', () => {
    for (const id of ['<a b>', '<a<b>', '<>', `<${'x'.repeat(249)}>`, '<\u00a0>', 'a@b']) {
      expect(line(good.replace('<a@b>', id))).toEqual({ ok: false, reason: 'bad_message_id' });
    }
    expect(line(good.replace('<a@b>', `<${'x'.repeat(248)}>`)).ok).toBe(true);
  });

  it('refuses a line of more than 64 KiB', () => {
    expect(line(good.replace('s', 's'.repeat(70_000)))).toEqual({ ok: false, reason: 'line_too_long' });
  });

  it('accepts an Xref value without its name where the format has Xref, and no foreign extra in its place', () => {
    const xref = (extra: string) => {
      const reading = line(`${good}\t${extra}`);
      return reading.ok ? reading.line.xref : 'rejected';
    };
    expect(xref('news.example.com a.b:7')).toBe('news.example.com a.b:7');
    expect(xref('XREF:  h a.b:7')).toBe('h a.b:7');
    expect(xref('Path: a!b c')).toBe(null);
    expect(xref('Path: a!b\tNewsgroups: a.b\tXref: h a.b:7')).toBe('h a.b:7');
  });

  it('turns NUL and bare CR into blanks and keeps other control bytes', () => {
    expect(line(good.replace('s', 'a\0b\rc\u0007'))).toMatchObject({ line: { subject: 'a b c\u0007' } });
  });
});

describe('overviewFormat', () => {
  it('is the standard order for the standard list, and for an empty or useless one', () => {
    const list = ['Subject:', 'From:', 'Date:', 'Message-ID:', 'References:', ':bytes', ':lines', 'Xref:full'];
    expect(overviewFormat(list)).toEqual(STANDARD_FORMAT);
    expect(overviewFormat([':number', ...list])).toEqual(STANDARD_FORMAT);
    expect(overviewFormat([])).toEqual(STANDARD_FORMAT);
    expect(overviewFormat(['Subject:', 'From:'])).toEqual(STANDARD_FORMAT);
  });

  it('maps by name when a server reorders', () => {
    const format = overviewFormat(['From:', 'SUBJECT:', 'Bytes:', 'Date:', 'Message-ID:', 'Xref:full', 'Lines:']);
    const fields = Buffer.from('3\tme\ttitle\t77\tMon, 1 Jan 2024 00:00:00 +0000\t<a@b>\tXref: h g.a:3\t9');
    expect(readLine(fields, format)).toMatchObject({
      line: { article: 3, subject: 'title', from: 'me', bytes: 77, lines: 9, messageId: '<a@b>', xref: 'h g.a:3' },
    });
  });
});

describe('dates', () => {
  it.each([
    ['Sat, 31 Dec 49 10:00:00 GMT', Date.UTC(2049, 11, 31, 10)],
    ['31 Dec 50 10:00:00 GMT', Date.UTC(1950, 11, 31, 10)],
    ['1 JAN 2024 01:02:03+0130', Date.UTC(2024, 0, 0, 23, 32, 3)],
    ['1 Jan 2024 01:02 pdt', Date.UTC(2024, 0, 1, 8, 2)],
    ['1 Jan 2040 00:00:00 Z', Date.UTC(2040, 0, 1)],
    ['29 Feb 2024 00:00:00 (leap (nested)) +0000', Date.UTC(2024, 1, 29)],
    ['29 Feb 2023 00:00:00 +0000', null],
    ['22-4-2007', null],
    ['1 Foo 2024 00:00:00', null],
    ['1 Jan 2024 24:00:00', null],
    ['', null],
  ])('%s', (text, expected) => {
    expect(parseDate(text)).toBe(expected);
  });

  it('come out of the memo as they come out of the parser, whatever the bytes', () => {
    const memo = new DateMemo();
    const dated = fc.date({ noInvalidDate: true, min: new Date('1970-01-01'), max: new Date('2090-01-01') });
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            dated.map((d) => d.toUTCString()),
            fc.string(),
          ),
        ),
        (texts) => {
          for (const text of [...texts, ...texts]) {
            const bytes = Buffer.from(`x${text}y`);
            expect(memo.read(bytes, 1, bytes.length - 1)).toEqual(parseDate(text) ?? Number.NaN);
          }
        },
      ),
    );
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatSubject, parseSubject, SUBJECT_VERBS, type Subject } from '../../../streams/subjects.ts';
import { subjects } from '../../kit/eventArbitraries.ts';

/** Text that is nearly a subject: the tokens of one, some of them replaced, added or left out. */
const nearly = fc
  .tuple(subjects, fc.nat(), fc.constantFrom('', '*', '>', ' ', 'x', '0', '01', '..', 'live'))
  .map(([subject, at, other]) => {
    const tokens = formatSubject(subject).split('.');
    tokens.splice(at % (tokens.length + 1), at % 2, other);
    return tokens.join('.');
  });

describe('subjects', () => {
  it('are read back as what they were made of', () => {
    fc.assert(
      fc.property(subjects, (subject) => {
        expect(parseSubject(formatSubject(subject))).toEqual(subject);
      }),
    );
  });

  it('have one text each: what is read is written the same', () => {
    fc.assert(
      fc.property(fc.oneof(nearly, fc.string(), fc.string({ unit: 'binary' })), (text) => {
        const subject = parseSubject(text);
        if (subject !== null) expect(formatSubject(subject)).toBe(text);
      }),
    );
  });

  it('are covered by the arbitrary in every verb', () => {
    const seen = new Set(fc.sample(subjects, { numRuns: 2000, seed: 1 }).map((subject) => subject.verb));
    expect([...seen].sort()).toEqual([...SUBJECT_VERBS].sort());
  });

  it('are no NATS wildcards, and hold no blank', () => {
    fc.assert(
      fc.property(subjects, (subject) => {
        const tokens = formatSubject(subject).split('.');
        for (const token of tokens) expect(token).not.toMatch(/^[*>]?$|\s/);
      }),
    );
  });

  it.each([
    '',
    'range',
    'range.planned',
    'range.planned.live',
    'range.planned.live.bb',
    'range.planned.live.bb.',
    'range.planned.slow.bb.a.b',
    'range.planned.live.BB.a.b',
    'range.marks.bb.more',
    'overview.bb.0-1-2.0.a.b',
    'overview.bb.0-1-2.01.a.b',
    'overview.bb.0-2-1.1.a.b',
    'ops.service.nobody',
    'release.seen.headers.bb.a.*',
    '$JS.API.INFO',
  ])('%j is none of ours', (text) => {
    expect(parseSubject(text)).toBeNull();
  });

  it('keep the dots of a group apart from their own tokens', () => {
    const subject = { verb: 'release.seen', origin: 'headers', backbone: 'bb', group: 'alt.binaries.x' } as Subject;
    expect(formatSubject(subject)).toBe('release.seen.headers.bb.alt.binaries.x');
    expect(parseSubject('release.seen.headers.bb.alt.binaries.x')).toEqual(subject);
  });
});

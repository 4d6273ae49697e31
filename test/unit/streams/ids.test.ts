import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ArticleNumber,
  Backbone,
  Epoch,
  EpochMs,
  EventId,
  Group,
  isGroup,
  MessageId,
  ProviderName,
  RangeId,
  ReleaseId,
  ReleaseKey,
} from '../../../streams/ids.ts';
import { spans } from '../../kit/eventArbitraries.ts';

const MAKERS: Readonly<Record<string, (value: string) => unknown>> = {
  Group,
  Backbone,
  ProviderName,
  MessageId,
  ReleaseKey,
  ReleaseId,
  EventId,
  'RangeId.parse': RangeId.parse,
};

describe('identifiers', () => {
  it('names a range by epoch and numbers, and reads the name back, up to 2^53 - 1', () => {
    fc.assert(
      fc.property(spans, ({ rangeId, ...parts }) => {
        expect(RangeId.parse(rangeId)).toEqual(parts);
      }),
    );
    expect(RangeId.parse('0-1-9007199254740991').hi).toBe(Number.MAX_SAFE_INTEGER);
  });

  it.each([
    ['a name with a leading zero, which would be a second name of one range', '0-01-5'],
    ['numbers in the wrong order', '0-6-5'],
    ['a number beyond 2^53 - 1', '0-1-9007199254740992'],
    ['a missing part', '0-1'],
    ['a sign', '0--1-5'],
  ])('refuses %s as a range id', (_, text) => {
    expect(() => RangeId.parse(text)).toThrow(RangeError);
  });

  it.each(['alt.binaries.test', 'a.b.größe', 'a*b.>c', 'x'])('takes %s as a group', (name) => {
    expect(Group(name)).toBe(name);
  });

  it.each([
    'alt..test',
    '.alt',
    'alt.',
    'a.*',
    '*',
    'a.>',
    'a.>.b',
    'a b',
    'a\tb',
    'a\u0000b',
    '',
    'x'.repeat(201),
    'é'.repeat(101),
  ])('refuses %j as a group: it could not be a subject', (name) => {
    expect(isGroup(name)).toBe(false);
    expect(() => Group(name)).toThrow(RangeError);
  });

  it.each(Object.entries(MAKERS))('%s takes any text as it is or throws RangeError, nothing else', (_, make) => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme', maxLength: 50 })), (text) => {
        try {
          const made = make(text);
          if (typeof made === 'string') expect(made).toBe(text);
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
      }),
    );
  });

  it.each([
    ['ArticleNumber', ArticleNumber, [0, 2 ** 31, Number.MAX_SAFE_INTEGER], [-1, 0.5, 2 ** 53, Number.NaN]],
    ['Epoch', Epoch, [0, 7], [-1, 0.5, Number.POSITIVE_INFINITY]],
  ] as const)('%s takes whole numbers from 0 to 2^53 - 1', (_, make, good, bad) => {
    for (const value of good) expect(make(value)).toBe(value);
    for (const value of bad) expect(() => make(value)).toThrow(RangeError);
  });

  it('rounds a time to whole milliseconds and refuses what is no time', () => {
    expect(EpochMs(1.6)).toBe(2);
    expect(() => EpochMs(Number.NaN)).toThrow(RangeError);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseQuery, tokensOf, tsQueryOf } from '../../../projections/catalog/tokens.ts';

describe('the words of a name', () => {
  it.each([
    ['Some.Linux-Image_12.04 amd64', ['some', 'linux', 'image', '12', '04', 'amd64']],
    ["Don't `stop’ me", ['dont', 'stop', 'me']],
    ['Tom & Jerry', ['tom', 'and', 'jerry']],
    ['R&B', ['r', 'and', 'b']],
    ['Élan Vital ÀÉÎ Größe Łódź Ærø ﬁn', ['elan', 'vital', 'aei', 'grosse', 'lodz', 'aero', 'fin']],
    ['İstanbul ΣΑΣ', ['istanbul', 'σασ']],
    ['東京 2020', ['東京', '2020']],
    ['a.a.A', ['a']],
    ['--- ***', []],
    ['', []],
  ])('%s', (name, words) => {
    expect(tokensOf(name)).toEqual(words);
  });

  it('are bounded, however long the name is', () => {
    const tokens = tokensOf(Array.from({ length: 5_000 }, (_, i) => `${i}${'x'.repeat(300)}`).join(' '));
    expect(tokens.length).toBe(100);
    expect(Math.max(...tokens.map((t) => t.length))).toBe(100);
  });

  it('are letters and digits only, and the same when made from themselves', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (name) => {
        const tokens = tokensOf(name);
        for (const token of tokens) expect(token).toMatch(/^[\p{L}\p{N}]+$/u);
        expect(tokensOf(tokens.join(' '))).toEqual(tokens);
      }),
    );
  });
});

describe('a query', () => {
  it.each([
    ['Avengers --1080p', { words: ['avengers'], excluded: [['1080p']], matchesNothing: false }],
    ['Avengers !1080p', { words: ['avengers'], excluded: [['1080p']], matchesNothing: false }],
    ['some-image -web-dl', { words: ['some', 'image'], excluded: [['web', 'dl']], matchesNothing: false }],
    ['-only', { words: [], excluded: [['only']], matchesNothing: false }],
    ['', { words: [], excluded: [], matchesNothing: false }],
    ['  ', { words: [], excluded: [], matchesNothing: false }],
    ['***', { words: [], excluded: [], matchesNothing: true }],
    ['a - b', { words: ['a', 'b'], excluded: [], matchesNothing: false }],
  ])('%s', (query, parsed) => {
    expect(parseQuery(query)).toEqual(parsed);
  });

  it('becomes a tsquery of all its words and none of the excluded phrases', () => {
    expect(tsQueryOf(parseQuery('some-image -web-dl !x'))).toBe(`'some' & 'image' & !('web' & 'dl') & !('x')`);
    expect(tsQueryOf(parseQuery(''))).toBeNull();
  });
});

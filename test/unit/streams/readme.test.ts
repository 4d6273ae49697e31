import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeEvent } from '../../../streams/envelope.ts';
import { definitionOf, type EventType } from '../../../streams/events/index.ts';
import { parseSubject, SUBJECT_VERBS } from '../../../streams/subjects.ts';
import { PUBLISHERS, STREAMS, type StreamFamily } from '../../../streams/topology.ts';
import { EVENT_TYPES, eventOf } from '../../kit/eventArbitraries.ts';

const text = readFileSync(new URL('../../../streams/README.md', import.meta.url), 'utf8');

/** The rows of the table under a heading, cell by cell, without the heading row. */
function table(heading: string): string[][] {
  const section = text.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| '));
  return rows.slice(2).map((row) =>
    row
      .slice(2, -2)
      .split(' | ')
      .map((cell) => cell.replaceAll('`', '').trim()),
  );
}

const keptOf = (family: StreamFamily): string => {
  const { maxAgeMs, denyPurge } = STREAMS[family];
  if (maxAgeMs > 0) return `${maxAgeMs / 86_400_000} days`;
  return denyPurge ? 'for ever' : 'until parsed';
};

/** `range.marks.<backbone>` as an expression: a placeholder is one token, `<group>` all that follow. */
const expression = (pattern: string): RegExp =>
  new RegExp(`^${pattern.replaceAll('.', '\\.').replace('<group>', '.+').replaceAll(/<\w+>/g, '[^.]+')}$`, 'u');

const rows = table('The map of subjects');
const rowOf = (type: EventType) => rows.find((row) => row[1] === `${type}/${definitionOf(type).version}`);

describe('the map of subjects in streams/README.md', () => {
  it('has one row for every event and no other', () => {
    expect(rows.map((row) => row[1]).sort()).toEqual(EVENT_TYPES.map((t) => `${t}/${definitionOf(t).version}`).sort());
    for (const row of rows) expect(row).toHaveLength(6);
  });

  it.each(EVENT_TYPES)('tells the truth about %s', (type) => {
    const [subject, , publishers, stream, kept, says] = rowOf(type) ?? [];
    const { stream: family } = definitionOf(type);
    expect({ publishers, stream, kept }).toEqual({
      publishers: PUBLISHERS[type].join(', '),
      stream: family,
      kept: keptOf(family),
    });
    expect(says).not.toBe('');
    fc.assert(
      fc.property(eventOf(type), (event) => {
        expect(encodeEvent(event).subject).toMatch(expression(subject ?? ''));
      }),
    );
  });

  it('names the fields of a subject as the parser does', () => {
    for (const type of EVENT_TYPES) {
      const pattern = rowOf(type)?.[0] ?? '';
      const [event] = fc.sample(eventOf(type), 1);
      const { verb, ...fields } = parseSubject(encodeEvent(event!).subject)!;
      expect(SUBJECT_VERBS).toContain(verb);
      expect(pattern === verb || pattern.startsWith(`${verb}.`)).toBe(true);
      expect([...pattern.matchAll(/<(\w+)>/g)].map((m) => m[1]).sort()).toEqual(Object.keys(fields).sort());
    }
  });
});

describe('the words in streams/README.md', () => {
  it('explains each word once', () => {
    const words = table('Words').flatMap((row) => (row[0] ?? '').split(', '));
    expect(words.length).toBeGreaterThanOrEqual(30);
    expect(new Set(words).size).toBe(words.length);
  });

  it.each([
    'backbone',
    'range',
    'run',
    'pass',
    'lane',
    'batch',
    'contribution',
    'chunk',
    'release',
    'epoch',
    'position',
  ])('explains "%s", which the types use', (word) => {
    const row = table('Words').find((r) => (r[0] ?? '').split(', ').includes(word));
    expect(row?.[1]).toMatch(/\w{3}/);
  });
});

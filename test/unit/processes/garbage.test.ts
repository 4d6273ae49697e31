import { describe, expect, it } from 'vitest';
import { signatureOf } from '../../../infra/processes/commands/garbage.ts';
import {
  appendGarbage,
  newestGarbage,
  signaturesOf,
  withoutSignature,
  withSignature,
} from '../../../processors/garbage/garbageTableLog.ts';
import { DEFAULT_GARBAGE } from '../../../processors/headers/garbage.ts';
import type { GarbageSignature } from '../../../streams/events/control.ts';
import { MemoryEvents } from '../../kit/memoryEvents.ts';
import { sampleGroups } from '../../kit/sampleEvents.ts';

const spam: GarbageSignature = { signature: 'spam', field: 'poster', pattern: '*@spam.example' };
const signal = new AbortController().signal;

describe('the garbage table', () => {
  it('starts from the default and grows by whole versions', () => {
    const first = withSignature(null, spam)!;
    expect(first).toEqual({ origin: 'operator', garbageVersion: 1, signatures: [...DEFAULT_GARBAGE, spam] });
    const more: GarbageSignature = { ...spam, pattern: '*@other.example' };
    expect(withSignature(first, more)).toEqual({
      origin: 'operator',
      garbageVersion: 2,
      signatures: [...DEFAULT_GARBAGE, spam, more],
    });
  });

  it('does not change by what it has already', () => {
    expect(withSignature(withSignature(null, spam), spam)).toBeNull();
    expect(withSignature(null, DEFAULT_GARBAGE[0]!)).toBeNull();
    expect(withoutSignature(null, 'spam')).toBeNull();
  });

  it('loses every pattern of a signature at once, those of the default too', () => {
    const two = withSignature(withSignature(null, spam), { ...spam, pattern: 'x' });
    expect(withoutSignature(two, 'spam')?.signatures).toEqual(DEFAULT_GARBAGE);
    const [first, ...rest] = DEFAULT_GARBAGE;
    expect(withoutSignature(null, first!.signature)).toEqual({
      origin: 'operator',
      garbageVersion: 1,
      signatures: rest,
    });
  });

  it('is read back as it was appended, and only one of two writers makes the next version', async () => {
    const events = new MemoryEvents();
    const none = await newestGarbage(events);
    expect(signaturesOf(none.table)).toEqual(DEFAULT_GARBAGE);
    const next = withSignature(none.table, spam)!;
    expect(await appendGarbage(events, none, next, 1000, signal)).toBe(true);
    expect(await appendGarbage(events, none, withoutSignature(null, 'test-server')!, 1000, signal)).toBe(false);
    expect((await newestGarbage(events)).table).toEqual(next);
  });

  it('is not appended behind a group list that came in between', async () => {
    const events = new MemoryEvents();
    const none = await newestGarbage(events);
    await events.append(sampleGroups(1));
    expect(await appendGarbage(events, none, withSignature(null, spam)!, 1000, signal)).toBe(false);
    const newest = await newestGarbage(events);
    expect(await appendGarbage(events, newest, withSignature(newest.table, spam)!, 1000, signal)).toBe(true);
  });
});

describe('the options of garbage add', () => {
  it.each([
    [{ poster: '*@spam.example' }, 'poster', '*@spam.example'],
    [{ messageId: '<*@spam.example>' }, 'message_id', '*@spam.example'],
    [{ tool: 'ngpost' }, 'tool', 'ngpost'],
    [{ tool: 'JBin*' }, 'tool', 'JBin*'],
  ])('%j mean %s %s', (options, field, pattern) => {
    expect(signatureOf({ signature: 'x', ...options })).toEqual({ signature: 'x', field, pattern });
  });

  it.each([
    { poster: '' },
    { poster: '*' },
    { messageId: 'a'.repeat(201) },
    { tool: 'notepad' },
    { poster: 'a', signature: 'Not A Name' },
  ])('%j are refused', (options) => {
    expect(() => signatureOf({ signature: 'x', ...options })).toThrow(/USAGE_WRONG_VALUE/);
  });

  it('no pattern and two patterns are told as that', () => {
    expect(() => signatureOf({ signature: 'x' })).toThrow(
      'USAGE_MISSING: garbage add needs one of --poster, --message-id and --tool',
    );
    expect(() => signatureOf({ signature: 'x', poster: 'a', tool: 'nyuu' })).toThrow(
      'USAGE_CONTRADICTION: --poster and --tool cannot be given together',
    );
  });
});

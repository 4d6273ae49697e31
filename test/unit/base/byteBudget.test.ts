import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteBudget } from '../../../infra/base/byteBudget.ts';
import { orAborted } from '../../../infra/base/orAborted.ts';
import { propertyRuns } from '../../kit/propertyRuns.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('the byte budget', () => {
  it('never has more under way than its limit, whatever is asked and given back, and admits everybody in order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 100 }), { maxLength: 30 }), async (sizes) => {
        const budget = new ByteBudget(100);
        const admitted: number[] = [];
        const releases: (() => void)[] = [];
        const taking = sizes.map(async (bytes, i) => {
          releases.push(await budget.take(bytes));
          admitted.push(i);
          expect(budget.used).toBeLessThanOrEqual(100);
        });
        while (admitted.length < sizes.length) {
          await turn();
          releases.shift()?.();
        }
        await Promise.all(taking);
        for (const release of releases) release();
        expect(admitted).toEqual(sizes.map((_, i) => i));
        expect(budget.used).toBe(0);
      }),
      { numRuns: propertyRuns(50) },
    );
  });

  it('admits one that is larger than the limit, alone', async () => {
    const budget = new ByteBudget(10);
    const small = await budget.take(1);
    let large: (() => void) | undefined;
    const waiting = budget.take(50).then((release) => {
      large = release;
    });
    await turn();
    expect(large).toBeUndefined();
    small();
    await waiting;
    expect(budget.used).toBe(50);
    large?.();
    large?.();
    expect(budget.used).toBe(0);
  });

  it('lets a waiting one go by its signal, and the next one in', async () => {
    const budget = new ByteBudget(10);
    const first = await budget.take(10);
    const stop = new AbortController();
    const waiting = budget.take(10, stop.signal);
    const next = budget.take(5);
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    first();
    await next;
    expect(budget.used).toBe(5);
    await expect(budget.take(1, stop.signal)).rejects.toThrow('enough');
  });

  it('counts nothing for one that is admitted in the very turn in which its signal aborts', async () => {
    const budget = new ByteBudget(10);
    const first = await budget.take(10);
    const stop = new AbortController();
    const waiting = budget.take(10, stop.signal);
    first();
    stop.abort(new Error('enough'));
    const outcome = await waiting.then(
      (release) => release(),
      () => 'aborted',
    );
    expect(['aborted', undefined]).toContain(outcome);
    expect(budget.used).toBe(0);
  });
});

describe('orAborted', () => {
  it('gives the value, the error or the reason, whichever is first, and leaves no listener behind', async () => {
    const stop = new AbortController();
    let listeners = 0;
    const { signal } = stop;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    Object.assign(signal, {
      addEventListener: (...args: Parameters<typeof add>) => {
        listeners++;
        add(...args);
      },
      removeEventListener: (...args: Parameters<typeof remove>) => {
        listeners--;
        remove(...args);
      },
    });
    expect(await orAborted(Promise.resolve(1), [signal, undefined])).toBe(1);
    await expect(orAborted(Promise.reject(new Error('own')), [signal])).rejects.toThrow('own');
    expect(listeners).toBe(0);
    const pending = orAborted(new Promise(() => {}), [new AbortController().signal, signal]);
    stop.abort(new Error('stopped'));
    await expect(pending).rejects.toThrow('stopped');
    expect(listeners).toBe(0);
    await expect(orAborted(new Promise(() => {}), [signal])).rejects.toThrow('stopped');
  });
});

import { describe, expect, it } from 'vitest';
import { Exchange, type Reply, type Request } from '../../../infra/nntp/exchange.ts';
import type { ByteTransport } from '../../../infra/nntp/transport.ts';
import { ManualClock } from '../../kit/manualClock.ts';

/** A transport whose other end is the test. */
class Wire implements ByteTransport {
  readonly written: string[] = [];
  reads = 0;
  closed = false;
  buffered = 0;
  #waiter: { resolve: (bytes: Buffer | null) => void; reject: (error: unknown) => void } | null = null;
  #failed: { error: unknown } | null = null;

  read(): Promise<Buffer | null> {
    this.reads++;
    if (this.#failed) return Promise.reject(this.#failed.error);
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject };
    });
  }

  write(bytes: Buffer): void {
    this.written.push(bytes.toString().trimEnd());
  }

  fail(error: unknown): void {
    this.closed = true;
    this.#failed ??= { error };
    this.#waiter?.reject(error);
  }

  async end(): Promise<void> {
    this.closed = true;
  }

  /** The server says this. Everything that follows from it is done when it resolves. */
  async say(text: string): Promise<void> {
    await settled();
    const waiter = this.#waiter;
    this.#waiter = null;
    if (!waiter) throw new Error('nobody reads');
    waiter.resolve(Buffer.from(text, 'latin1'));
    await settled();
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

function start(changes: { depth?: number } = {}) {
  const wire = new Wire();
  const clock = new ManualClock();
  const server = { host: 'h', port: 1, secrets: [] };
  const limits = { firstByteMs: 1000, silenceMs: 500, lineBytes: 1000, depth: 16, ...changes };
  return { wire, clock, exchange: new Exchange(wire, { clock, server, ...limits }) };
}

const plain = (line: string): Request => ({ line, label: line, expect: [200] });
const block = (line: string, sink: (lines: Buffer) => void | Promise<void>): Request => ({
  ...plain(line),
  expect: [224],
  block: { code: 224, sink, maxBytes: 1000 },
});

describe('an exchange', () => {
  it('sends commands without waiting and gives each its own reply, in order', async () => {
    const { wire, exchange } = start();
    const order: string[] = [];
    const asked = ['A', 'B', 'C'].map((line) =>
      exchange.request(plain(line)).then((reply) => order.push(`${line} ${reply.text}`)),
    );
    expect(wire.written).toEqual(['A', 'B', 'C']);
    await wire.say('200 one\r\n200 tw');
    await wire.say('o\r\n430 three\r\n');
    await Promise.all(asked);
    expect(order).toEqual(['A one', 'B two', 'C three']);
    expect(exchange.idle).toBe(true);
  });

  it('keeps no more commands in flight than its depth', async () => {
    const { wire, exchange } = start({ depth: 2 });
    const asked = ['A', 'B', 'C', 'D'].map((line) => exchange.request(plain(line)));
    expect(wire.written).toEqual(['A', 'B']);
    await wire.say('200 a\r\n');
    expect(wire.written).toEqual(['A', 'B', 'C']);
    await wire.say('200 b\r\n200 c\r\n');
    await wire.say('200 d\r\n');
    expect((await Promise.all(asked)).map((reply) => reply.text)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('reads nothing while a sink is busy, and lets no time-out run against the server meanwhile', async () => {
    const { wire, clock, exchange } = start();
    let free: () => void = () => {};
    const busy = new Promise<void>((resolve) => {
      free = resolve;
    });
    const asked = exchange.request(block('OVER', () => busy));
    await wire.say('224 ok\r\n1\ta\r\n');
    const reads = wire.reads;
    await clock.advance(60_000);
    expect(wire.reads).toBe(reads);
    free();
    await wire.say('.\r\n');
    await expect(asked).resolves.toMatchObject({ code: 224, bytes: 5 });
  });

  it('starts the wait for a first byte when the reply before it is complete', async () => {
    const { wire, clock, exchange } = start();
    const first = exchange.request(plain('A'));
    const second = exchange.request(plain('B'));
    await clock.advance(900);
    await wire.say('200 a\r\n');
    await first;
    await clock.advance(900);
    await wire.say('200 b\r\n');
    await expect(second).resolves.toMatchObject({ text: 'b' });
  });

  it('rejects everything in flight and everything later with what broke it', async () => {
    const { wire, clock, exchange } = start();
    const asked = ['A', 'B'].map((line) => exchange.request(plain(line)));
    const ended = Promise.allSettled(asked);
    await clock.advance(1000);
    for (const result of await ended) {
      expect(result).toMatchObject({ reason: { code: 'NNTP_TIMEOUT', fields: { command: 'A', kind: 'first byte' } } });
    }
    await expect(exchange.request(plain('C'))).rejects.toMatchObject({ code: 'NNTP_TIMEOUT' });
    expect(wire.written).toEqual(['A', 'B']);
    expect(exchange.idle).toBe(false);
  });

  it('breaks with the error of a sink, and calls no sink after it broke', async () => {
    const { wire, exchange } = start();
    const seen: string[] = [];
    const asked = exchange.request(
      block('OVER', (lines) => {
        seen.push(lines.toString());
        throw new Error('disk full');
      }),
    );
    const ended = expect(asked).rejects.toThrow('disk full');
    await wire.say('224 ok\r\na\r\n..b\r\n');
    await ended;
    expect(seen).toEqual(['a\r\n']);
    expect(wire.closed).toBe(true);
  });

  it('is not idle once the server said something unasked', async () => {
    const { wire, exchange } = start();
    const asked: Promise<Reply> = exchange.request(plain('A'));
    await wire.say('200 a\r\n400 idle for too long\r\n');
    await asked;
    expect(exchange.idle).toBe(false);
  });

  it('refuses a command with a line break in it, and does not send it', () => {
    const { wire, exchange } = start();
    expect(() => exchange.request(plain('GROUP a\r\nQUIT'))).toThrow(TypeError);
    expect(wire.written).toEqual([]);
  });

  it('leaves no timer behind when it ends', async () => {
    const { wire, clock, exchange } = start();
    const asked = exchange.request(plain('A'));
    await wire.say('200 a\r\n');
    await asked;
    await exchange.quit();
    expect(clock.sleeping).toBe(0);
  });
});

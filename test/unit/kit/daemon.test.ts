import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startDaemon } from '../../kit/daemon.ts';
import { answers, freePorts } from '../../kit/ports.ts';
import { until } from '../../kit/until.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hw-daemon-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const shell = (script: string) => startDaemon({ name: 'sh', program: 'sh', args: ['-c', script], folder });

/** A zombie that nobody has collected yet counts as ended. */
const isRunning = (pid: number): boolean => {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
};

describe('a daemon that a test started', () => {
  it('ends with its children, also with those that ignore the signal', async () => {
    const daemon = await shell(
      "trap '' TERM; (trap '' TERM; while :; do sleep 1; done) & echo child $!; wait; sleep 60",
    );
    const child = await until('the child', () => Number(/child (\d+)/.exec(daemon.tail())?.[1] ?? 0) || null);
    expect([daemon.alive(), isRunning(child)]).toEqual([true, true]);
    await daemon.stop('SIGTERM', 100);
    expect([daemon.alive(), isRunning(child)]).toEqual([false, false]);
  });

  it('is known to have ended, with its last words', async () => {
    const daemon = await shell('echo one; echo two; exit 3');
    await until('it to end', () => !daemon.alive());
    expect(daemon.tail(1)).toBe('two');
    await daemon.stop('SIGKILL', 100);
  });

  it('cannot be started when setpriv has no such program, and says so', async () => {
    const daemon = await startDaemon({ name: 'none', program: 'no-such-program', args: [], folder });
    await until('it to end', () => !daemon.alive());
    expect(daemon.tail()).toContain('no-such-program');
  });
});

describe('waiting', () => {
  it('returns what the probe gives, whatever it threw before', async () => {
    let calls = 0;
    const probe = () => {
      if (++calls < 3) throw new Error('not yet');
      return 'there';
    };
    expect(await until('it', probe, { everyMs: 1 })).toBe('there');
  });

  it('names what it waited for, and the last error, when the deadline passes', async () => {
    const probe = () => {
      throw new Error('still down');
    };
    await expect(until('the server', probe, { deadlineMs: 10, everyMs: 2 })).rejects.toThrow(
      'waited 10 ms for the server: still down',
    );
    await expect(until('nothing', () => false, { deadlineMs: 5, everyMs: 2 })).rejects.toThrow(
      'waited 5 ms for nothing',
    );
  });
});

describe('free ports', () => {
  it('are different, below those of outgoing connections, and answer only once something listens', async () => {
    const ports = await freePorts(5);
    expect(new Set(ports).size).toBe(5);
    expect(ports.every((port) => port >= 11_000 && port < 31_000)).toBe(true);
    const [port = 0] = ports;
    expect(await answers(port)).toBe(false);
    const server = createServer().listen(port, '127.0.0.1');
    await until('the server to listen', () => server.listening);
    expect(await answers(port)).toBe(true);
    server.close();
  });
});

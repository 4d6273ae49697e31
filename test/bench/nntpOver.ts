/**
 * Overview throughput of the client against INN, held against a bare socket reader of the same lines.
 *
 *   npx tsx test/bench/nntpOver.ts [lines, default 250000] [rounds, default 5] [connections, default 1]
 *
 * All readers take turns in one process; the ratio is that of the medians. The client reads plainly and through COMPRESS
 * DEFLATE, held against a bare reader that inflates. Needs Debian's inn2.
 */
import { connect } from 'node:net';
import { constants, createInflateRaw, deflateRawSync } from 'node:zlib';
import { systemClock } from '../../infra/base/clock.ts';
import { silentLog } from '../../infra/base/log.ts';
import { noMetrics } from '../../infra/base/metrics.ts';
import { createNntpPool } from '../../infra/nntp/index.ts';
import { ArticleNumber, Group } from '../../streams/ids.ts';
import { type Inn, startInn } from '../kit/inn.ts';
import { providerAt } from '../kit/nntpProvider.ts';
import { overviewForInn } from '../kit/overviewForInn.ts';
import { generateOverview } from './overviewGenerator.ts';

const GROUP = Group('alt.binaries.bench');
const SPAN = 20_000;

interface Share {
  readonly lo: number;
  readonly hi: number;
}

const spansOf = ({ lo, hi }: Share): Share[] =>
  Array.from({ length: Math.ceil((hi - lo + 1) / SPAN) }, (_, i) => ({
    lo: lo + i * SPAN,
    hi: Math.min(hi, lo + (i + 1) * SPAN - 1),
  }));

/** Sends all commands at once, counts bytes and looks for nothing but the end of the last reply (QUIT's 205 and EOF). */
function bare(inn: Inn, share: Share): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: inn.host, port: inn.port, noDelay: true });
    let bytes = 0;
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    socket.once('error', reject).once('end', () => resolve(bytes));
    const commands = spansOf(share).map(({ lo, hi }) => `OVER ${lo}-${hi}\r\n`);
    socket.write(`GROUP ${GROUP}\r\n${commands.join('')}QUIT\r\n`);
  });
}

/** The same through COMPRESS DEFLATE: inflates and looks at nothing. */
function bareDeflate(inn: Inn, share: Share): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: inn.host, port: inn.port, noDelay: true });
    const inflate = createInflateRaw({ chunkSize: 256 * 1024, finishFlush: constants.Z_SYNC_FLUSH });
    let bytes = 0;
    let clear = '';
    inflate.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    inflate.once('error', reject).once('end', () => resolve(bytes));
    const start = (first: Buffer) => {
      clear += first.toString('latin1');
      if (!clear.includes('206')) return socket.once('data', start);
      const commands = spansOf(share).map(({ lo, hi }) => `OVER ${lo}-${hi}\r\n`);
      const all = Buffer.from(`GROUP ${GROUP}\r\n${commands.join('')}QUIT\r\n`);
      socket.pipe(inflate);
      return socket.write(deflateRawSync(all, { finishFlush: constants.Z_SYNC_FLUSH }));
    };
    socket.once('error', reject).once('data', start);
    socket.write('COMPRESS DEFLATE\r\n');
  });
}

async function client(inn: Inn, share: Share, compression: 'none' | 'deflate'): Promise<number> {
  const dependencies = { clock: systemClock, log: silentLog, metrics: noMetrics };
  const pool = createNntpPool(providerAt(inn, { connections: 1, compression }), dependencies);
  const bytes = await pool.withConnection(async (c) => {
    await c.group(GROUP);
    const asked = spansOf(share).map(({ lo, hi }) =>
      c.over(ArticleNumber(lo), ArticleNumber(hi), { onLines: () => {} }),
    );
    return (await Promise.all(asked)).reduce((sum, result) => sum + result.bytes, 0);
  });
  await pool.close();
  return bytes;
}

async function timed(connections: number, lines: number, one: (share: Share) => Promise<number>) {
  const each = Math.ceil(lines / connections);
  const shares = Array.from({ length: connections }, (_, i) => ({
    lo: i * each + 1,
    hi: Math.min(lines, (i + 1) * each),
  }));
  const start = performance.now();
  const cpu = process.cpuUsage();
  const bytes = (await Promise.all(shares.map(one))).reduce((sum, n) => sum + n, 0);
  const used = process.cpuUsage(cpu);
  return { ms: performance.now() - start, cpuMs: (used.user + used.system) / 1000, bytes };
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

async function main(): Promise<void> {
  const [lines = 250_000, rounds = 5, connections = 1] = process.argv.slice(2).map(Number);
  const inn = await startInn({ groups: [GROUP] });
  try {
    const generated = generateOverview({ lines, group: GROUP, first: 1, crossGroups: [], missing: 0 });
    await inn.overchan(
      (async function* () {
        yield* overviewForInn(GROUP, generated);
      })(),
    );
    const readers: Readonly<Record<string, (share: Share) => Promise<number>>> = {
      bare: (share) => bare(inn, share),
      client: (share) => client(inn, share, 'none'),
      'bare deflate': (share) => bareDeflate(inn, share),
      'client deflate': (share) => client(inn, share, 'deflate'),
    };
    const results = new Map(Object.keys(readers).map((name) => [name, [] as Awaited<ReturnType<typeof timed>>[]]));
    // The first round warms all readers and INN's files; it does not count.
    for (let round = 0; round <= rounds; round++) {
      for (const [name, reader] of Object.entries(readers)) {
        const result = await timed(connections, lines, reader);
        if (round > 0) results.get(name)?.push(result);
      }
    }
    const ms = (name: string) => median((results.get(name) ?? []).map((r) => r.ms));
    const cpu = (name: string) => median((results.get(name) ?? []).map((r) => r.cpuMs));
    const bytes = results.get('client')?.[0]?.bytes ?? 0;
    const rate = (time: number) => `${Math.round(lines / time)}k lines/s, ${Math.round(bytes / time / 1000)} MB/s`;
    console.log(`${lines} lines, ${bytes} bytes, ${connections} connection(s), median of ${rounds}`);
    for (const name of results.keys()) {
      console.log(`${name.padEnd(14)} ${ms(name).toFixed(0)} ms  ${rate(ms(name))}  cpu ${cpu(name).toFixed(0)} ms`);
    }
    console.log(`ratio          ${(ms('bare') / ms('client')).toFixed(2)}`);
    console.log(`ratio deflate  ${(ms('bare deflate') / ms('client deflate')).toFixed(2)}`);
  } finally {
    await inn.dispose();
  }
}

await main();

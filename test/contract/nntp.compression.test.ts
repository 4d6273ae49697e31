import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../infra/base/clock.ts';
import type { Log } from '../../infra/base/log.ts';
import { noMetrics } from '../../infra/base/metrics.ts';
import { createNntpPool } from '../../infra/nntp/index.ts';
import { ArticleNumber, Group } from '../../streams/ids.ts';
import { generateOverview } from '../bench/overviewGenerator.ts';
import { describeWith } from '../kit/describeWith.ts';
import { type Inn, startInn } from '../kit/inn.ts';
import { type ProviderChanges, providerAt } from '../kit/nntpProvider.ts';
import { overviewForInn } from '../kit/overviewForInn.ts';

const GROUP = Group('alt.binaries.compressed');
const LINES = 30_000;
const SPAN = 7000;

/** What one connection read: how it was compressed, and length and hash of all lines. */
interface Read {
  readonly compression: unknown;
  readonly bytes: number;
  readonly sha: string;
}

describeWith(['inn2'], 'COMPRESS DEFLATE with INN', () => {
  let inn: Inn;
  beforeAll(async () => {
    inn = await startInn({ groups: [GROUP] });
    const generated = generateOverview({ lines: LINES, group: GROUP, first: 1, crossGroups: [], missing: 0 });
    const loaded = await inn.overchan(
      (async function* () {
        yield* overviewForInn(GROUP, generated);
      })(),
    );
    expect(loaded.refused).toBe(0);
  });
  afterAll(() => inn?.dispose());

  /** All spans in flight at once, twice over the same connection. */
  async function readAll(changes: ProviderChanges): Promise<Read> {
    let compression: unknown;
    const quiet = () => {};
    const debug: Log['debug'] = (_message, fields) => {
      compression = fields?.compression;
    };
    const log: Log = { debug, info: quiet, warn: quiet, error: quiet, child: () => log };
    const pool = createNntpPool(providerAt(inn, { connections: 1, ...changes }), {
      clock: systemClock,
      log,
      metrics: noMetrics,
    });
    const hash = createHash('sha256');
    let bytes = 0;
    const onLines = (lines: Buffer) => {
      hash.update(lines);
      bytes += lines.length;
    };
    for (let pass = 0; pass < 2; pass++) {
      await pool.withConnection(async (c) => {
        const asked: Promise<unknown>[] = [c.group(GROUP)];
        for (let lo = 1; lo <= LINES; lo += SPAN) {
          asked.push(c.over(ArticleNumber(lo), ArticleNumber(Math.min(LINES, lo + SPAN - 1)), { onLines }));
        }
        asked.push(c.over(ArticleNumber(LINES + 1), ArticleNumber(LINES + 10), { onLines }));
        await Promise.all(asked);
      });
    }
    const { open } = pool.stats();
    expect(open).toBe(1);
    await pool.close();
    return { compression, bytes, sha: hash.digest('hex') };
  }

  it('gives the same bytes as without: in clear, after TLS with a login, and where the choice is left to the client', async () => {
    const plain = await readAll({ compression: 'none' });
    expect(plain.compression).toBe('none');
    expect(plain.bytes).toBeGreaterThan(2 * LINES * 100);
    const deflated = { ...plain, compression: 'deflate' };
    expect(await readAll({ compression: 'deflate' })).toEqual(deflated);
    expect(await readAll({ compression: 'auto' })).toEqual(deflated);
    expect(await readAll({ compression: 'deflate', tls: true, port: inn.tlsPort, ca: inn.ca })).toEqual(deflated);
    const login = { tls: 'starttls', port: inn.authPort, ca: inn.ca, account: inn.account } as const;
    expect(await readAll({ compression: 'deflate', ...login })).toEqual(deflated);
  });

  it('is read plainly where only a kind of compression is configured that INN lacks', async () => {
    const plain = await readAll({ compression: 'none' });
    expect((await readAll({ compression: 'xfeature' })).sha).toBe(plain.sha);
    expect((await readAll({ compression: 'xzver' })).sha).toBe(plain.sha);
  });
});

import type { Conditions } from '../../processors/ports.ts';
import type { Clock } from '../base/clock.ts';
import { type HeadwaterError, isHeadwaterError } from '../base/errors/index.ts';
import type { Log } from '../base/log.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Capabilities } from './login.ts';
import { identityOf, nntpError } from './refusal.ts';
import type { Dialect, NntpProviderSettings } from './settings.ts';

/** After so many broken replies without a good one between them the provider is read plainly. */
export const BROKEN_IN_A_ROW_MAX = 3;
/** So long; then compression gets another chance. */
export const PLAIN_MS = 3_600_000;

/** The whole connection first: it compresses most and needs no guess about where a reply ends. */
const BY_PREFERENCE: readonly Dialect[] = ['deflate', 'xfeature', 'xzver'];

export interface ChoiceDependencies {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly conditions?: Conditions;
}

/** What is known about the compression of one provider, shared by all of its connections. */
export class CompressionChoice {
  readonly #settings: NntpProviderSettings;
  readonly #dependencies: ChoiceDependencies;
  readonly #refused = new Set<Dialect>();
  #chosen: Dialect | null = null;
  #brokenInARow = 0;
  #plainUntil = 0;

  constructor(settings: NntpProviderSettings, dependencies: ChoiceDependencies) {
    this.#settings = settings;
    this.#dependencies = dependencies;
  }

  /** While the provider is read plainly because of what it sent. */
  get suspended(): boolean {
    return this.#dependencies.clock.now() < this.#plainUntil;
  }

  /** The dialects to try on a new connection, in order; none for a plain one. */
  candidates(capabilities: Capabilities): readonly Dialect[] {
    const { compression = 'auto' } = this.#settings;
    if (compression === 'none' || this.suspended) return [];
    const all = compression !== 'auto' ? [compression] : this.#chosen ? [this.#chosen] : BY_PREFERENCE;
    // Extensions are often not listed, so they are tried; a standard command that is not listed is not there.
    const standard = capabilities === null || capabilities.get('COMPRESS')?.some((a) => a.toUpperCase() === 'DEFLATE');
    return all.filter((dialect) => !this.#refused.has(dialect) && (dialect !== 'deflate' || standard || !this.#auto));
  }

  accepted(dialect: Dialect): void {
    this.#chosen = dialect;
  }

  /** The server does not know `dialect`: it is not tried again. */
  refused(dialect: Dialect, reply: number): void {
    if (this.#refused.has(dialect)) return;
    this.#refused.add(dialect);
    if (this.#chosen === dialect) this.#chosen = null;
    const fields = { provider: this.#settings.name, compression: dialect, reply };
    if (this.#auto) this.#dependencies.log.debug('the provider does not offer a kind of compression', fields);
    else this.#dependencies.log.warn('the provider does not offer the configured compression', fields);
  }

  /** A compressed reply was read to its end and was right. */
  worked(): void {
    if (this.#brokenInARow === 0) return;
    this.#brokenInARow = 0;
    this.#dependencies.conditions?.clear(this.#about);
  }

  /** A compressed reply was broken, or compression could not be started. */
  broke(dialect: Dialect, error: unknown): void {
    const { log, metrics, clock } = this.#dependencies;
    const { name: provider } = this.#settings;
    metrics.count('nntp_broken_replies_total', { provider, compression: dialect });
    const reason = isHeadwaterError(error) ? error.message : String(error);
    log.warn('a compressed reply was broken; what it should have held is read plainly', {
      provider,
      compression: dialect,
      reason,
    });
    this.#brokenInARow++;
    if (this.#brokenInARow < BROKEN_IN_A_ROW_MAX || this.suspended) return;
    this.#plainUntil = clock.now() + PLAIN_MS;
    this.#giveUp(error);
  }

  get #auto(): boolean {
    return (this.#settings.compression ?? 'auto') === 'auto';
  }

  get #about(): string {
    return `compression/${this.#settings.name}`;
  }

  #giveUp(cause: unknown): void {
    const { log, conditions } = this.#dependencies;
    const server = identityOf(this.#settings);
    const error: HeadwaterError = nntpError(
      'NNTP_COMPRESSION_UNUSABLE',
      server,
      { times: this.#brokenInARow, provider: this.#settings.name },
      cause,
    );
    if (conditions) conditions.report(this.#about, error);
    else log.warn(error.message, { provider: this.#settings.name, code: error.code, hint: error.hint });
  }
}

import type { Clock } from '../../infra/base/clock.ts';
import { isHeadwaterError } from '../../infra/base/errors/index.ts';
import type { Log } from '../../infra/base/log.ts';
import type { ProviderName } from '../../streams/ids.ts';
import type { Articles, ArticlesPool, Conditions } from '../ports.ts';
import { failureKind } from './failureKind.ts';

/** How long a provider is left alone after its first failure in a row, and at most after many (doubled each time). */
export interface Pauses {
  readonly firstMs: number;
  readonly maxMs: number;
}

export interface CoolingSettings extends Pauses {
  /** The same for one that rejects the login: providers lock an account that tries too often. */
  readonly denied: Pauses;
}

/** Pauses that double from `firstMs` to ten times as much. */
export const pausesFrom = (firstMs: number): Pauses => ({ firstMs, maxMs: 10 * firstMs });

export const DEFAULT_DENIED_MS = 30_000;
export const DEFAULT_COOLING: CoolingSettings = { ...pausesFrom(30_000), denied: pausesFrom(DEFAULT_DENIED_MS) };

/** `cooling`: every provider is being left alone; the work is untouched and may be tried again after `delayMs`. */
export type Used<T> =
  | { readonly kind: 'used'; readonly value: T; readonly provider: ProviderName }
  | { readonly kind: 'cooling'; readonly delayMs: number };

interface State {
  readonly pool: ArticlesPool;
  busy: number;
  failures: number;
  /** Not before this time. */
  openAt: number;
  /** One call finds out whether a provider is back; the others wait for its answer. */
  onTrial: boolean;
  /** Whether the last failure came before a connection stood. */
  unreachable: boolean;
  /** Whether it worked since this process started: an incident of an earlier process is closed by the first success. */
  cleared: boolean;
}

export interface ProvidersContext {
  readonly clock: Clock;
  readonly log: Log;
  readonly conditions: Conditions;
}

/** While another caller tries a provider out. */
const TRIAL_MS = 5000;

/** The providers of one backbone: which one takes the next piece of work, and which are left alone for a while. */
export class Providers {
  readonly #states: readonly State[];
  readonly #context: ProvidersContext;
  readonly #cooling: CoolingSettings;

  constructor(pools: readonly ArticlesPool[], context: ProvidersContext, cooling: CoolingSettings = DEFAULT_COOLING) {
    this.#states = pools.map((pool) => {
      return { pool, busy: 0, failures: 0, openAt: 0, onTrial: false, unreachable: true, cleared: false };
    });
    this.#context = context;
    this.#cooling = cooling;
  }

  /** Connections of all providers together. */
  get limit(): number {
    return this.#states.reduce((sum, { pool }) => sum + pool.limit, 0);
  }

  get count(): number {
    return this.#states.length;
  }

  /**
   * Runs `work` on a connection of the provider that has most room. When the provider itself is the trouble it is reported
   * as the condition `provider/<name>`, left alone for a while, and the next one is asked: `work` may run several times.
   * Every other error of `work` is thrown. `avoid`: taken only if there is no other.
   */
  async use<T>(
    work: (articles: Articles, provider: ProviderName) => Promise<T>,
    signal: AbortSignal,
    avoid: ReadonlySet<ProviderName> = new Set(),
  ): Promise<Used<T>> {
    for (;;) {
      signal.throwIfAborted();
      const state = this.#next(avoid);
      if (state === null) return { kind: 'cooling', delayMs: this.#untilOpen() };
      const tried = await this.#try(state, work, signal);
      if (tried !== null) return { kind: 'used', value: tried.value, provider: state.pool.provider };
    }
  }

  async #try<T>(
    state: State,
    work: (articles: Articles, provider: ProviderName) => Promise<T>,
    signal: AbortSignal,
  ): Promise<{ readonly value: T } | null> {
    let connected = false;
    state.onTrial = state.failures > 0;
    state.busy++;
    try {
      const value = await state.pool.withArticles((articles) => {
        connected = true;
        // Work may take minutes: a provider that could not be reached is well as soon as it can. One that failed inside
        // a session has to bring a session to its end.
        if (state.unreachable) this.#works(state);
        return work(articles, state.pool.provider);
      }, signal);
      this.#works(state);
      return { value };
    } catch (error) {
      if (signal.aborted || failureKind(error, connected) !== 'provider') throw error;
      this.#cool(state, error as Error, !connected);
      return null;
    } finally {
      state.busy--;
      state.onTrial = false;
    }
  }

  #next(avoid: ReadonlySet<ProviderName>): State | null {
    const now = this.#context.clock.now();
    const open = this.#states.filter((s) => s.openAt <= now && !s.onTrial);
    const wanted = open.filter((s) => !avoid.has(s.pool.provider));
    const [best = null] = (wanted.length > 0 ? wanted : open).sort((a, b) => load(a) - load(b));
    return best;
  }

  #untilOpen(): number {
    const now = this.#context.clock.now();
    const waits = this.#states.map((s) => (s.onTrial ? TRIAL_MS : s.openAt - now));
    return Math.max(1000, Math.min(...waits));
  }

  #works(state: State): void {
    if (state.failures === 0 && state.cleared) return;
    state.failures = 0;
    state.onTrial = false;
    state.cleared = true;
    this.#context.conditions.clear(`provider/${state.pool.provider}`);
  }

  #cool(state: State, error: Error, unreachable: boolean): void {
    const { clock, conditions, log } = this.#context;
    conditions.report(`provider/${state.pool.provider}`, error);
    // All its connections break at once when a provider goes: that is one failure.
    if (state.openAt > clock.now()) return;
    const { firstMs, maxMs } = isHeadwaterError(error, 'NNTP_AUTH_REJECTED') ? this.#cooling.denied : this.#cooling;
    const ms = Math.min(maxMs, firstMs * 2 ** state.failures);
    // The condition tells the trouble and every change of it; each further trial of a provider that stays down is no news.
    const level = state.failures === 0 ? 'warn' : 'debug';
    state.failures++;
    state.unreachable = unreachable;
    state.openAt = clock.now() + ms;
    log[level]('provider is left alone for a while', { provider: state.pool.provider, ms, error: error.message });
  }
}

const load = ({ busy, pool }: State): number => busy / Math.max(1, pool.limit);

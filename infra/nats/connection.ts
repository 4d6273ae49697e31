import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { AuthorizationError, type ConnectionOptions, connect, type NatsConnection } from 'nats';
import type { Conditions } from '../../processors/ports.ts';
import { PAYLOAD_BYTES_MAX } from '../../streams/events/define.ts';
import type { Clock } from '../base/clock.ts';
import { HeadwaterError } from '../base/errors/index.ts';
import type { Log } from '../base/log.ts';
import { orAborted } from '../base/orAborted.ts';
import { readEndpoint } from './endpoint.ts';
import type { NatsLink } from './link.ts';
import { backoffMs } from './outage.ts';

export interface ConnectSettings {
  /** `nats://host:port`, several separated by commas; a user and password in it are used when `user` is not set. */
  readonly url: string;
  readonly user?: string | undefined;
  readonly pass?: string | undefined;
  readonly token?: string | undefined;
  /** Shown by the server's monitoring. */
  readonly name: string;
  readonly log: Log;
  readonly conditions: Conditions;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
}

/** Headers, subject and protocol on top of an event's payload. */
const HEADERS_BYTES_MAX = 4096;
const CONNECT_TIMEOUT_MS = 5_000;
/** Creating a filtered consumer on a large stream counts what is pending first. */
const API_TIMEOUT_MS = 30_000;
const ABOUT = 'nats';

/**
 * Connects, waiting with the condition `nats` until a server answers, and keeps the connection from then on.
 * Throws NATS_WRONG_CREDENTIALS, NATS_TOO_OLD, NATS_NO_JETSTREAM, NATS_PAYLOAD_LIMIT (waiting would not help), or the
 * reason of the signal.
 */
export async function connectNats(settings: ConnectSettings): Promise<NatsLink> {
  const { log, conditions } = settings;
  const endpoint = readEndpoint(settings);
  const nc = await firstConnection(settings, {
    ...endpoint.options,
    name: settings.name,
    timeout: CONNECT_TIMEOUT_MS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    pingInterval: 10_000,
    noAsyncTraces: true,
  });
  try {
    checkServer(nc, endpoint.shown);
  } catch (error) {
    await nc.close();
    throw error;
  }
  conditions.clear(ABOUT);
  log.info('connected to NATS', { url: endpoint.shown, version: nc.info?.version });
  const jsm = await jetstreamManager(nc, { checkAPI: false, timeout: API_TIMEOUT_MS });
  return new Link(nc, { jsm, url: endpoint.shown, settings });
}

async function firstConnection(settings: ConnectSettings, options: ConnectionOptions): Promise<NatsConnection> {
  const url = readEndpoint(settings).shown;
  for (let attempt = 0; ; attempt++) {
    settings.signal?.throwIfAborted();
    try {
      return await connect(options);
    } catch (error) {
      const reason = (error as Error).message;
      if (error instanceof AuthorizationError) throw new HeadwaterError('NATS_WRONG_CREDENTIALS', { url, reason });
      const unavailable = new HeadwaterError('NATS_UNAVAILABLE', { url, reason }, { cause: error });
      settings.conditions.report(ABOUT, unavailable);
      settings.log.warn('NATS does not answer yet', { url, reason, attempt });
    }
    await settings.clock.sleep(backoffMs(attempt), settings.signal);
  }
}

/** What the server must be able to do, as far as its greeting tells. */
function checkServer(nc: NatsConnection, url: string): void {
  const version = nc.info?.version ?? 'unknown';
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (!(major > 2 || (major === 2 && minor >= 10))) throw new HeadwaterError('NATS_TOO_OLD', { url, version });
  if (nc.info?.jetstream !== true) throw new HeadwaterError('NATS_NO_JETSTREAM', { url, reason: 'it is not enabled' });
  const wanted = PAYLOAD_BYTES_MAX + HEADERS_BYTES_MAX;
  const got = nc.info.max_payload;
  if (got < wanted) throw new HeadwaterError('NATS_PAYLOAD_LIMIT', { url, wanted, got });
}

interface LinkParts {
  readonly jsm: NatsLink['jsm'];
  readonly url: string;
  readonly settings: ConnectSettings;
}

class Link implements NatsLink {
  readonly nc: NatsConnection;
  readonly js: NatsLink['js'];
  readonly jsm: NatsLink['jsm'];
  readonly url: string;
  readonly serverVersion: string;
  readonly log: Log;
  readonly clock: Clock;
  readonly conditions: Conditions;
  readonly closed: Promise<HeadwaterError | null>;
  readonly #stopping = new AbortController();
  #session = new AbortController();
  #connected: Promise<void> = Promise.resolve();
  #reconnected: () => void = () => {};
  #closing = false;

  constructor(nc: NatsConnection, parts: LinkParts) {
    this.nc = nc;
    this.js = jetstream(nc, { timeout: API_TIMEOUT_MS });
    this.jsm = parts.jsm;
    this.url = parts.url;
    this.serverVersion = nc.info?.version ?? 'unknown';
    this.log = parts.settings.log;
    this.clock = parts.settings.clock;
    this.conditions = parts.settings.conditions;
    this.closed = nc.closed().then((error) => this.#ended(error ?? null));
    this.#watch().catch((error: unknown) => this.log.error('the watch over NATS ended', { error: String(error) }));
  }

  get session(): AbortSignal {
    return this.#session.signal;
  }

  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  async up(signal?: AbortSignal): Promise<void> {
    await orAborted(this.#connected, [signal, this.stopping]);
  }

  async close(): Promise<void> {
    this.#closing = true;
    this.#stopping.abort(new HeadwaterError('NATS_CLOSED', { reason: 'the service stops' }));
    // A drain needs the server; without one it would wait for the reconnect.
    if (this.#session.signal.aborted) await this.nc.close();
    else await this.nc.drain().catch(() => this.nc.close());
    await this.closed;
  }

  #ended(error: unknown): HeadwaterError | null {
    const reason = error instanceof Error ? error.message : 'the client gave up';
    const fatal = this.#closing ? null : new HeadwaterError('NATS_CLOSED', { reason }, { cause: error });
    this.#stopping.abort(fatal ?? new HeadwaterError('NATS_CLOSED', { reason: 'the service stops' }));
    this.#session.abort(this.#stopping.signal.reason);
    if (fatal !== null) {
      this.log.error('the connection to NATS is closed for good', { reason });
      this.conditions.report(ABOUT, fatal);
    }
    return fatal;
  }

  async #watch(): Promise<void> {
    for await (const status of this.nc.status()) {
      switch (status.type) {
        case 'disconnect':
          this.#lost();
          break;
        case 'reconnect':
          this.#back();
          break;
        case 'error':
          this.log.warn('NATS reports an error', { error: status.error.message });
          break;
        case 'slowConsumer':
        case 'staleConnection':
          this.log.warn('NATS connection', { status: status.type });
          break;
        default:
          this.log.debug('NATS connection', { status: status.type });
      }
    }
  }

  #lost(): void {
    if (this.#session.signal.aborted) return;
    this.#connected = new Promise((resolve) => {
      this.#reconnected = resolve;
    });
    const error = new HeadwaterError('NATS_UNAVAILABLE', { url: this.url, reason: 'the connection was lost' });
    this.#session.abort(error);
    if (this.#closing) return;
    this.log.warn('the connection to NATS was lost', { url: this.url });
    this.conditions.report(ABOUT, error);
  }

  #back(): void {
    this.#session = new AbortController();
    this.#reconnected();
    this.log.info('connected to NATS again', { url: this.url });
    this.conditions.clear(ABOUT);
  }
}

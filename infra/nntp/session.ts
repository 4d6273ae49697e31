import type { Conditions } from '../../processors/ports.ts';
import type { Clock } from '../base/clock.ts';
import { isHeadwaterError } from '../base/errors/index.ts';
import type { Log } from '../base/log.ts';
import type { Metrics } from '../base/metrics.ts';
import type { AccountSlots } from './accountSlots.ts';
import type { CompressionChoice } from './compressionChoice.ts';
import { type ConnectContext, openTransport, upgradeTransport } from './connect.ts';
import { Connection } from './connection.ts';
import { DeflateTransport } from './deflateTransport.ts';
import { Exchange, type Reply } from './exchange.ts';
import { askStartTls, checkGreeting, login } from './login.ts';
import { negotiate } from './negotiate.ts';
import { identityOf, nntpError } from './refusal.ts';
import { DEFAULT_LIMITS, DEFAULT_TIMEOUTS, type NntpProviderSettings } from './settings.ts';
import type { ByteTransport, SocketTransport } from './transport.ts';

export interface NntpDependencies {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Where it is reported that a provider is read without compression because what it sends is broken. */
  readonly conditions?: Conditions;
  /** What the account allows over all processes. Left out: this pool has the account for itself. */
  readonly accountSlots?: AccountSlots;
}

/** Everything that one session needs, worked out once. */
interface Session extends ConnectContext {
  readonly newExchange: (transport: ByteTransport) => Exchange;
}

export interface OpenOptions {
  readonly choice: CompressionChoice;
  /** False: without compression, whatever the provider offers. */
  readonly compress: boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Connects, secures, logs in and switches compression on. Rejects with the typed error, or with the signal's reason.
 * A connection that does not survive the switch is replaced by a plain one.
 */
export async function openConnection(
  settings: NntpProviderSettings,
  dependencies: NntpDependencies,
  options: OpenOptions,
): Promise<Connection> {
  const { log, metrics } = dependencies;
  const provider = settings.name;
  try {
    const connection = await open(settings, dependencies, options);
    metrics.count('nntp_connects_total', { provider, result: 'ok' });
    log.debug('connected to the provider', { provider, host: settings.host, compression: connection.compression });
    return connection;
  } catch (error) {
    const result = isHeadwaterError(error) ? error.code : 'aborted';
    metrics.count('nntp_connects_total', { provider, result });
    const again = options.compress && result === 'NNTP_COMPRESSION_BROKEN' && !options.signal?.aborted;
    if (!again) throw error;
    return await openConnection(settings, dependencies, { ...options, compress: false });
  }
}

async function open(
  settings: NntpProviderSettings,
  dependencies: NntpDependencies,
  { choice, compress, signal }: OpenOptions,
): Promise<Connection> {
  const session = sessionOf(settings, dependencies, signal);
  const { server } = session;
  let transport = await openTransport(session);
  let exchange = session.newExchange(transport);
  const onAbort = () => exchange.break(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    if (signal?.aborted) throw signal.reason;
    checkGreeting(await exchange.greeting(), server);
    if (settings.tls === 'starttls') {
      transport = await startTls(exchange, transport, session);
      exchange = session.newExchange(transport);
    }
    const capabilities = await login(exchange, session);
    const deflate = (plain: Exchange) => session.newExchange(new DeflateTransport(transport, plain.handOver(), server));
    const plain = { exchange, compression: 'none' } as const;
    const agreed = compress ? await negotiate(exchange, capabilities, { server, choice, deflate }) : plain;
    return new Connection(agreed.exchange, capabilities, {
      server,
      limits: { ...DEFAULT_LIMITS, ...settings.limits },
      overFirstByteMs: settings.timeouts?.overFirstByteMs ?? DEFAULT_TIMEOUTS.overFirstByteMs,
      compression: agreed.compression,
      gone: transport.gone,
      choice,
      substitute: !compress || choice.suspended,
    });
  } catch (error) {
    exchange.break(error);
    // Until then it counts at the provider, and whoever hears of the failure may open the next one.
    await transport.gone;
    throw error;
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}

async function startTls(plain: Exchange, transport: SocketTransport, session: Session): Promise<SocketTransport> {
  await askStartTls(plain, session);
  // Anything that came behind the 382 was not protected: taking it for a reply would trust whoever wrote it.
  if (plain.handOver().length > 0) {
    throw nntpError('NNTP_CONNECTION_CLOSED', session.server, { reason: 'plain text after the TLS upgrade' });
  }
  return await upgradeTransport(transport, session);
}

function sessionOf(settings: NntpProviderSettings, dependencies: NntpDependencies, signal?: AbortSignal): Session {
  const { clock, metrics } = dependencies;
  const timeouts = { ...DEFAULT_TIMEOUTS, ...settings.timeouts };
  const limits = { ...DEFAULT_LIMITS, ...settings.limits };
  const server = identityOf(settings);
  const provider = settings.name;
  const onReply = (label: string, reply: Reply) => {
    const [command = label] = label.split(' ');
    metrics.count('nntp_replies_total', { provider, command, code: String(reply.code) });
    if (reply.bytes > 0) metrics.count('nntp_read_bytes_total', { provider, command }, reply.bytes);
  };
  const newExchange = (transport: ByteTransport) =>
    new Exchange(transport, {
      clock,
      server,
      onReply,
      lineBytes: limits.lineBytes,
      silenceMs: timeouts.silenceMs,
      firstByteMs: timeouts.firstByteMs,
      depth: settings.pipelineDepth ?? 16,
    });
  return { settings, server, clock, connectMs: timeouts.connectMs, signal, newExchange };
}

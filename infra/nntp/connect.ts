import { readFileSync } from 'node:fs';
import net, { type Socket } from 'node:net';
import tls, { type TLSSocket } from 'node:tls';
import type { Clock } from '../base/clock.ts';
import { nntpError, type ServerIdentity } from './refusal.ts';
import type { NntpProviderSettings } from './settings.ts';
import { SocketTransport } from './transport.ts';

/** What opening a connection needs to know. */
export interface ConnectContext {
  readonly settings: NntpProviderSettings;
  readonly server: ServerIdentity;
  readonly clock: Clock;
  readonly connectMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Opens TCP, and TLS where the settings want it from the first byte. */
export async function openTransport(context: ConnectContext): Promise<SocketTransport> {
  const { host, port } = context.settings;
  if (context.settings.tls === true) return new SocketTransport(await secure(context, null), context.server);
  const socket = net.connect({ host, port, noDelay: true, keepAlive: true });
  await ready(socket, 'connect', context);
  return new SocketTransport(socket, context.server);
}

/** Continues a plain connection as TLS, after the server agreed to STARTTLS. */
export async function upgradeTransport(plain: SocketTransport, context: ConnectContext): Promise<SocketTransport> {
  const raw = plain.detach();
  return new SocketTransport(await secure(context, raw), context.server);
}

async function secure(context: ConnectContext, raw: Socket | null): Promise<TLSSocket> {
  const { host, port, insecure } = context.settings;
  const socket = tls.connect({
    ...(raw ? { socket: raw } : { host, port, noDelay: true, keepAlive: true }),
    ...(net.isIP(host) === 0 ? { servername: host } : {}),
    ...trust(context),
    rejectUnauthorized: insecure !== true,
    // Node checks the certificate against `servername`; an address has none, so the host is named here.
    checkServerIdentity: (_name, certificate) => tls.checkServerIdentity(host, certificate),
  });
  await ready(socket, 'secureConnect', context);
  return socket;
}

function trust(context: ConnectContext): { ca?: Buffer } {
  const { ca } = context.settings;
  if (ca === undefined) return {};
  try {
    return { ca: readFileSync(ca) };
  } catch (error) {
    const reason = `cannot read its ca file (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`;
    throw nntpError('NNTP_TLS_UNTRUSTED', context.server, { reason, class: 'denied' }, error);
  }
}

/** Resolves at `event`; else destroys the socket, and rejects with the typed error once it is closed. */
function ready(socket: Socket, event: 'connect' | 'secureConnect', context: ConnectContext): Promise<void> {
  const { server, clock, connectMs, signal } = context;
  return new Promise((resolve, reject) => {
    const patience = new AbortController();
    const settle = (done: () => void) => {
      patience.abort();
      signal?.removeEventListener('abort', onAbort);
      socket.off(event, onReady).off('error', onError).off('close', onClose);
      done();
    };
    const fail = (error: unknown) =>
      settle(() => {
        // A socket that is being destroyed may report one error more; nobody listens any longer.
        socket.on('error', () => {});
        if (socket.closed) return reject(error);
        socket.once('close', () => reject(error));
        socket.destroy();
      });
    const onReady = () => settle(resolve);
    const onError = (error: Error) => fail(connectError(error, socket, server));
    const onClose = () =>
      fail(nntpError('NNTP_CONNECT_FAILED', server, { reason: 'the server closed the connection' }));
    const onAbort = () => fail(signal?.reason);
    socket.once(event, onReady).once('error', onError).once('close', onClose);
    if (signal?.aborted) return onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
    clock.sleep(connectMs, patience.signal).then(
      () => fail(nntpError('NNTP_TIMEOUT', server, { kind: 'connect', ms: connectMs, command: 'connect' })),
      () => {},
    );
  });
}

function connectError(error: Error & { code?: string; reason?: string }, socket: Socket, server: ServerIdentity) {
  // Node sets `authorizationError` exactly when the handshake worked and the certificate was refused.
  const refused = (socket as Partial<TLSSocket>).authorizationError;
  if (refused) {
    const reason = `${error.message} (${error.code ?? 'no code'})`;
    return nntpError('NNTP_TLS_UNTRUSTED', server, { reason, class: 'denied' }, error);
  }
  const reason = error.code ?? error.message;
  return nntpError('NNTP_CONNECT_FAILED', server, { reason }, error);
}

import type { ConnectionOptions } from 'nats';
import { HeadwaterError } from '../base/errors/index.ts';

export interface Endpoint {
  readonly options: ConnectionOptions;
  /** For people: host and port, never a credential. */
  readonly shown: string;
}

interface Given {
  readonly url: string;
  readonly user?: string | undefined;
  readonly pass?: string | undefined;
  readonly token?: string | undefined;
}

/** The address itself is not shown in the error: it may hold a password. */
function parse(text: string): URL {
  const full = text.includes('://') ? text : `nats://${text}`;
  if (!URL.canParse(full) || new URL(full).hostname === '') throw new HeadwaterError('NATS_BAD_URL');
  return new URL(full);
}

const plain = (value: string): string | undefined => (value === '' ? undefined : decodeURIComponent(value));

/** The client's options for a URL: its user and password count where none are given apart; `tls://` demands TLS. */
export function readEndpoint(given: Given): Endpoint {
  const urls = given.url.split(',').map((part) => parse(part.trim()));
  const hosts = urls.map((url) => `${url.hostname}:${url.port || '4222'}`);
  const user = given.user ?? plain(urls[0]?.username ?? '');
  const pass = given.pass ?? plain(urls[0]?.password ?? '');
  const token = given.token ?? (pass === undefined ? user : undefined);
  const login = token !== undefined ? { token } : user === undefined ? {} : { user, pass: pass ?? '' };
  const tls = urls.some((url) => url.protocol === 'tls:') ? { tls: {} } : {};
  return { options: { servers: hosts, ...login, ...tls }, shown: hosts.join(',') };
}

import type { Backbone, ProviderName } from '../../streams/ids.ts';

/** How long the client waits, in milliseconds. */
export interface NntpTimeouts {
  /** TCP and TLS handshake together. */
  readonly connectMs: number;
  /** From the moment a command is the oldest unanswered one to the first byte of its reply. */
  readonly firstByteMs: number;
  /** The same for OVER and XOVER: servers gather a large range before they start to send. */
  readonly overFirstByteMs: number;
  /** Between two pieces of one reply. */
  readonly silenceMs: number;
  /** An unused connection is closed after this. */
  readonly idleMs: number;
}

/** What a server may make the client hold or read, in bytes. */
export interface NntpLimits {
  readonly lineBytes: number;
  readonly articleBytes: number;
  readonly listBytes: number;
  /** Of an OVER reply: this for each article number asked for (at least 1 MiB in all). */
  readonly overBytesPerNumber: number;
  /** Of one compressed reply, inflated: it is held in memory until it is verified. */
  readonly inflatedBytes: number;
}

/** Forms of compression: RFC 8054 for the whole connection, or of overview replies only, as a mode or as a command. */
export type Dialect = 'deflate' | 'xfeature' | 'xzver';
export type Compression = Dialect | 'none';

export interface NntpProviderSettings {
  readonly name: ProviderName;
  readonly backbone: Backbone;
  readonly host: string;
  readonly port: number;
  /** true: TLS from the first byte; 'starttls': upgraded after the greeting, refused where the server cannot. */
  readonly tls: boolean | 'starttls';
  /** Path of a PEM file whose certificates are trusted instead of the system's. */
  readonly ca?: string;
  /** Accept any certificate. For tests and a last resort; the log warns. */
  readonly insecure?: boolean;
  readonly account?: { readonly user: string; readonly pass: string };
  /** The connection limit of the account. */
  readonly connections: number;
  /** Default `auto`: what the server offers. A form that it does not offer is left out. */
  readonly compression?: Compression | 'auto';
  /** Commands in flight on one connection; default 16. */
  readonly pipelineDepth?: number;
  /** Callers that may wait for a connection; default 1,000. */
  readonly maxWaiting?: number;
  readonly timeouts?: Partial<NntpTimeouts>;
  readonly limits?: Partial<NntpLimits>;
}

export const DEFAULT_TIMEOUTS: NntpTimeouts = {
  connectMs: 15_000,
  firstByteMs: 30_000,
  overFirstByteMs: 60_000,
  silenceMs: 30_000,
  idleMs: 45_000,
};

export const DEFAULT_LIMITS: NntpLimits = {
  lineBytes: 1 << 20,
  articleBytes: 16 << 20,
  listBytes: 256 << 20,
  overBytesPerNumber: 16_384,
  inflatedBytes: 64 << 20,
};

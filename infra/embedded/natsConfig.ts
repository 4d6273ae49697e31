/** What the configuration file of the embedded NATS says. Ports are on loopback; all paths absolute. */
export interface NatsSettings {
  readonly serverName: string;
  readonly port: number;
  readonly monitorPort: number;
  readonly user: string;
  readonly pass: string;
  readonly storeDir: string;
  readonly logFile: string;
  /** Bytes that file streams may take together. */
  readonly maxFileBytes: number;
}

const LEAST_FILE_BYTES = 64 * 1024 * 1024;
/** The rest of the free disk is for Postgres, which holds the same chunks again, and for the operator. */
const SHARE_OF_FREE = 0.6;

/** The disk limit when none is configured: 60 % of what is free once the store's own bytes are counted as free. */
export const defaultMaxFileBytes = (freeBytes: number, storeBytes: number): number =>
  Math.max(LEAST_FILE_BYTES, Math.floor((freeBytes + storeBytes) * SHARE_OF_FREE));

const quote = (text: string): string => `"${text.replace(/["\\]/g, (c) => `\\${c}`)}"`;

/** The text of nats.conf. It holds the password: write it with mode 0600. */
export const natsConfig = (s: NatsSettings): string => `# Written by Headwater at every start: changes are lost.
server_name: ${quote(s.serverName)}
listen: "127.0.0.1:${s.port}"
http: "127.0.0.1:${s.monitorPort}"
max_payload: 8MB
log_file: ${quote(s.logFile)}
logfile_size_limit: 10MB
logfile_max_num: 4
authorization {
  user: ${quote(s.user)}
  password: ${quote(s.pass)}
}
jetstream {
  store_dir: ${quote(s.storeDir)}
  max_mem: 256MB
  max_file: ${s.maxFileBytes}
  # Acknowledged means on disk: every write is synced before its acknowledgement.
  sync_interval: always
}
`;

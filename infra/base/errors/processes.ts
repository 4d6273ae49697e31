import { defineErrors } from './define.ts';

export const processErrors = defineErrors({
  PROCESS_NOT_RUNNING: {
    retriable: true,
    message: (f) => `Headwater does not run on the data folder ${f.folder}`,
    hint: 'Start it with `make up` (or `headwater up`), or set NATS_URL and DATABASE_URL to the servers that it uses.',
  },
  PROCESS_GONE: {
    retriable: true,
    message: (f) => `the ${f.service} process (pid ${f.pid}) ended without stopping in order`,
    hint: '`make up` starts everything again; `make down` stops what is left of it.',
  },
  PROCESS_IN_USE: {
    retriable: false,
    message: (f) => `another \`headwater up\` (pid ${f.pid}) runs on the data folder ${f.folder}`,
    hint: 'Stop that one first, or set another dataDir in headwater.yaml.',
  },
  PROCESS_FILE_DAMAGED: {
    retriable: false,
    message: (f) => `${f.file} cannot be read: ${f.reason}`,
    hint: 'Remove the file; the next start writes it anew.',
  },
  IMPORT_FILE_UNREADABLE: {
    retriable: false,
    message: (f) => `${f.file} cannot be read: ${f.reason}`,
    hint: 'Give a plain, gzip or zstd file. What was imported before it failed stays; repeat the call.',
  },
  SAMPLE_FAILED: {
    retriable: false,
    message: (f) => `${f.failed} ranges of the bundled sample could not be indexed`,
    hint: '`headwater ranges list --state failed` says why. Start again after it is mended, or set `sample: false`.',
  },
  API_CANNOT_LISTEN: {
    retriable: true,
    message: (f) => `the API cannot listen on ${f.host}:${f.port}: ${f.reason}`,
    hint: 'Stop the program that has the port: it is tried again every half minute. Or set another api.port and start again.',
  },
  PROJECTIONS_MISSING: {
    retriable: true,
    message: (f) => `the database does not have the tables of ${f.missing} yet`,
    hint: 'Start the project service (`headwater run project`, or `headwater up`): it makes them.',
  },
  PROVIDERS_NONE: {
    retriable: false,
    message: (f) => `no news server is configured (${f.file})`,
    hint: 'Add one under `providers` in headwater.yaml (infra/config/headwater.example.yaml is a start).',
  },
  PROVIDER_IN_USE: {
    retriable: true,
    message: (f) => `all connections of the provider ${f.name} (${f.connections}) were in use for ${f.seconds} s`,
    hint: 'The running services have them: try again later, or allow more `connections` if the account has more.',
  },
  USAGE_WRONG_VALUE: {
    retriable: false,
    message: (f) => `${f.option} takes ${f.takes}, not "${f.value}"`,
    hint: 'See `headwater help`.',
  },
  USAGE_MISSING: {
    retriable: false,
    message: (f) => `${f.command} needs ${f.needs}`,
    hint: 'See `headwater help`, or the command with --help.',
  },
  USAGE_CONTRADICTION: {
    retriable: false,
    message: (f) => `${f.options} cannot be given together`,
    hint: 'Give one of them. See `headwater help`.',
  },
  GROUP_UNKNOWN: {
    retriable: false,
    message: (f) => `${f.group} is not on the list of groups, and nothing of it was ever planned`,
    hint: 'Mind the spelling: `headwater groups list` shows the groups.',
  },
  GROUP_WISH_DIFFERS: {
    retriable: false,
    message: (f) => `${f.group} is on the list already, with ${f.listed}, not with ${f.asked}`,
    hint: 'Nothing was changed. To want something else, remove the group and add it again: what is indexed stays.',
  },
  KEY_NAME_TAKEN: {
    retriable: false,
    message: (f) => `the API key ${f.id} has the name "${f.name}" already`,
    hint: 'Take another name, or revoke that key first (`headwater keys revoke`).',
  },
  SERVICE_DISCONNECTED: {
    retriable: true,
    message: (f) => `the service ${f.service} ended (${f.reason}) and is started again in ${f.seconds} s`,
    hint: 'Its log, just before, says why it ended.',
  },
});

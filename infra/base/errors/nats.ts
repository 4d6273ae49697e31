import { defineErrors } from './define.ts';

/** What can go wrong between Headwater and its NATS server. */
export const natsErrors = defineErrors({
  NATS_UNAVAILABLE: {
    retriable: true,
    message: (f) => `NATS does not answer (${f.stream ?? f.url ?? 'connection'}): ${f.reason ?? 'no answer'}`,
    hint: 'Start the NATS server, or correct NATS_URL. Nothing is lost: services go on by themselves then, a command has to be called again.',
  },
  NATS_BAD_URL: {
    retriable: false,
    message: () => 'the address of NATS is no URL of the form nats://host:port',
    hint: 'Correct NATS_URL (or nats.url); several servers are separated by commas.',
  },
  NATS_WRONG_CREDENTIALS: {
    retriable: false,
    message: (f) => `NATS at ${f.url} refuses the login: ${f.reason}`,
    hint: 'Correct the user, password or token of NATS_URL.',
  },
  NATS_TOO_OLD: {
    retriable: false,
    message: (f) => `the NATS server at ${f.url} is version ${f.version}, Headwater needs 2.10 or newer`,
    hint: 'Upgrade the server (tested: 2.10 and 2.15), or leave NATS_URL unset to use the embedded one.',
  },
  NATS_NO_JETSTREAM: {
    retriable: false,
    message: (f) => `the NATS server at ${f.url} does not offer JetStream: ${f.reason}`,
    hint: 'Add a `jetstream { store_dir: ... }` block to its configuration.',
  },
  NATS_CLOSED: {
    retriable: false,
    message: (f) => `the connection to NATS was closed for good: ${f.reason}`,
    hint: 'The process ends and is started again.',
  },
  NATS_OPTION_DROPPED: {
    retriable: false,
    message: (f) => `NATS did not take ${f.option} of ${f.what}: wanted ${f.wanted}, it has ${f.got}`,
    hint: 'The server is too old, or the stream was made by another program with options that cannot be changed.',
  },
  NATS_LIMIT_TOO_LOW: {
    retriable: false,
    message: (f) => `${f.option} ${f.wanted} of stream ${f.stream} would remove events that it holds (${f.got})`,
    hint: 'Set a higher limit, or let what is stored be worked off first. Nothing was changed.',
  },
  NATS_STORE_TOO_SMALL: {
    retriable: false,
    message: (f) => `the NATS server has no room for stream ${f.stream} with ${f.bytes} bytes: ${f.reason}`,
    hint: 'Raise the limit of its store (`max_file`), or set a lower limit for the overview stream.',
  },
  NATS_PAYLOAD_LIMIT: {
    retriable: false,
    message: (f) => `the NATS server takes messages of ${f.got} bytes at most, Headwater needs ${f.wanted}`,
    hint: 'Set `max_payload: 8MB` in its configuration.',
  },
  NATS_REFUSED: {
    retriable: false,
    message: (f) => `NATS refused ${f.what}: ${f.reason} (${f.code})`,
    hint: 'The server does not accept what Headwater asked for: see its log.',
  },
  STREAM_FULL: {
    retriable: true,
    message: (f) => `stream ${f.stream} takes no more: ${f.reason} (${f.code})`,
    hint: 'Free disk space, or raise the limit of the stream or of the server (max_file). It goes on by itself then.',
  },
});

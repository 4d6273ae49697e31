import { defineErrors } from './define.ts';

export const eventErrors = defineErrors({
  EVENT_UNKNOWN_TYPE: {
    retriable: false,
    message: (f) => `${f.stream ?? 'a stream'} holds an event of unknown type "${f.type}" at ${f.position ?? '?'}`,
    hint: 'A newer Headwater wrote it: upgrade this one. Nothing was skipped.',
  },
  EVENT_UNKNOWN_VERSION: {
    retriable: false,
    message: (f) => `"${f.type}" version ${f.version} is unknown (this Headwater knows up to ${f.known})`,
    hint: 'A newer Headwater wrote it: upgrade this one. Nothing was skipped.',
  },
  EVENT_MALFORMED: {
    retriable: false,
    message: (f) => `event "${f.type}" does not have its shape: ${f.reason}`,
    hint: 'The message was damaged or written by another program. Look at it with `nats stream get <stream> <sequence>`.',
  },
  EVENT_CORRUPT_PAYLOAD: {
    retriable: false,
    message: (f) => `payload of "${f.type}" is corrupt: ${f.reason}`,
    hint: 'The bytes do not match their checksum: restore the stream from its backup.',
  },
  EVENT_ID_CONFLICT: {
    retriable: false,
    message: (f) => `another event with the id "${f.id}" is stored already (sequence ${f.seq})`,
    hint: 'Two different facts were given one identity. This is a defect: please report it.',
  },
});

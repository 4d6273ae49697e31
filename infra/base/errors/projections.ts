import { defineErrors } from './define.ts';

export const projectionErrors = defineErrors({
  PROJECTION_FENCED: {
    retriable: false,
    message: (f) => `projection ${f.projection} is run by another process now (epoch ${f.found}, ours was ${f.epoch})`,
    hint: 'Run one `project` service a database. What this process had not committed, the other one does.',
  },
  PROJECTION_GAP: {
    retriable: false,
    message: (f) =>
      `${f.stream} begins at ${f.first}, but projection ${f.projection} has only read up to ${f.position}: events are missing`,
    hint: 'Restore the stream from its backup, or rebuild the projection from what is left.',
  },
  PROJECTION_AHEAD: {
    retriable: false,
    message: (f) => `projection ${f.projection} has read up to ${f.position}, but ${f.stream} ends at ${f.last}`,
    hint: 'The stream lost its end or is an older backup: restore it, or rebuild the projection.',
  },
  PROJECTION_STREAM_REPLACED: {
    retriable: false,
    message: (f) =>
      `${f.stream} was created at ${f.created}, projection ${f.projection} was built from one created at ${f.expected}`,
    hint: 'This database belongs to another event store. Connect the right one, or rebuild the projection.',
  },
  PROJECTION_NEEDS_REBUILD: {
    retriable: false,
    message: (f) =>
      `projection ${f.projection} is stored in version ${f.stored}, this Headwater has version ${f.version}`,
    hint: 'Rebuild it: `headwater rebuild <projection>`. Until then it does not move.',
  },
  CHUNKS_NOT_READY: {
    retriable: true,
    message: (f) => `segment lists of a release are being replaced (${f.found} of ${f.expected} chunks of ${f.range})`,
    hint: 'The range that they come from is being parsed again. Try again in a minute.',
  },
  PROJECTION_FAILED: {
    retriable: false,
    message: (f) => `projection ${f.projection} cannot take what follows ${f.position}: ${f.reason}`,
    hint: 'Nothing was skipped. This is a defect: please report it with the event (`headwater replay` shows it).',
  },
});

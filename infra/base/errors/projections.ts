import { defineErrors } from './define.ts';

/** A refusal stays until a person acts: growth of the stream would only hide what is wrong. */
const untilActed = (first: string): string =>
  `${first} The projection stands still until its schema is dropped (\`drop schema <name> cascade\`): it is then made anew from this stream.` +
  ' Once the right stream is back whole, setting `refused` of its row in projection_position to null lets it go on.';

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
    hint: untilActed('The stream lost its beginning: restore it from its backup if you can.'),
  },
  PROJECTION_AHEAD: {
    retriable: false,
    message: (f) => `projection ${f.projection} has read up to ${f.position}, but ${f.stream} ends at ${f.last}`,
    hint: untilActed('The stream lost its end or is an older backup: restore it if you can.'),
  },
  PROJECTION_STREAM_REPLACED: {
    retriable: false,
    message: (f) =>
      `${f.stream} was created at ${f.created}, projection ${f.projection} was built from one created at ${f.expected}`,
    hint: untilActed('This database belongs to another event store: connect the right one if this is a mistake.'),
  },
  PROJECTION_NEEDS_REBUILD: {
    retriable: false,
    message: (f) =>
      `projection ${f.projection} is stored in version ${f.stored}, this Headwater has version ${f.version}`,
    hint: 'It does not move until its schema is dropped (`drop schema <name> cascade`); it is then made anew from its stream.',
  },
  CHUNKS_NOT_READY: {
    retriable: true,
    message: (f) => `segment lists of a release are being replaced (${f.found} of ${f.expected} chunks of ${f.range})`,
    hint: 'The range that they come from is being parsed again. Try again in a minute.',
  },
  PROJECTION_FAILED: {
    retriable: false,
    message: (f) => `projection ${f.projection} cannot take what follows ${f.position}: ${f.reason}`,
    hint: 'Nothing was skipped. This is a defect: please report it with the stream and the position.',
  },
});

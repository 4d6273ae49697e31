import { defineErrors, type ErrorFields } from './define.ts';

const range = (f: ErrorFields) => `range ${f.range} of ${f.group} (run ${f.run})`;

/** What can go wrong in the loops that turn events into events. */
export const processorErrors = defineErrors({
  PROCESSOR_UNEXPECTED_EVENT: {
    retriable: false,
    message: (f) => `consumer ${f.consumer} delivers "${f.type}" where only "${f.accepts}" belongs`,
    hint: 'The consumer was made by another version: upgrade this one, or remove the consumer and restart.',
  },
  RANGE_FORMAT_CHANGED: {
    retriable: false,
    message: (f) => `${range(f)}: the overview fields changed while it was fetched`,
    hint: 'The provider changed its overview format. `headwater ranges retry` fetches the range anew.',
  },
  RANGE_BATCHES_BROKEN: {
    retriable: false,
    message: (f) => `${range(f)}: the stored batches do not fit together: ${f.reason}`,
    hint: 'This is a defect: please report it. `headwater ranges retry` fetches the range anew.',
  },
  RANGE_BATCH_GONE: {
    retriable: false,
    message: (f) => `${range(f)}: the batch at sequence ${f.sequence} is gone`,
    hint: 'The batches were purged or the OVERVIEW stream was lost. `headwater ranges retry` fetches the range anew.',
  },
  RANGE_BREAKS_PARSER: {
    retriable: false,
    message: (f) => `${range(f)} could not be parsed: ${f.reason}`,
    hint: 'The range is set aside, its group goes on. Please report the message.',
  },
  HEADERS_WORKER_DIED: {
    retriable: true,
    message: (f) => `a headers worker ended: ${f.reason}`,
    hint: 'Usually memory ran out: lower `headers.workers`, or give the machine more memory. The range is parsed again.',
  },
  GROUP_RENUMBERED: {
    retriable: false,
    message: (f) =>
      `${f.group} on ${f.backbone} is numbered anew: ${f.low} to ${f.high} where ${f.seen} was the highest (epoch ${f.epoch})`,
    hint: 'Nothing to do: live goes on at the head, and what is indexed stays. Older articles of the new numbering are not read.',
  },
  RANGE_TOO_LARGE: {
    retriable: false,
    message: (f) => `${range(f)} holds ${f.numbers} numbers, more than OVERVIEW has room for: it is not tried again`,
    hint: 'Raise `nats.overviewMaxMiB` to what it was when the range was planned.',
  },
  GROUP_LIST_CONTENDED: {
    retriable: true,
    message: (f) => `the group list changed ${f.tries} times while it was to be extended`,
    hint: 'Others write the group list at the same time; it is tried again.',
  },
  IMPORT_NOT_ASCENDING: {
    retriable: false,
    message: (f) => `line ${f.line}: article ${f.number} comes after article ${f.before}`,
    hint: 'Sort the file by article number (`sort -n -s -k1,1`) and import it again.',
  },
  IMPORT_NO_NUMBERS: {
    retriable: false,
    message: (f) => `none of the ${f.lines} lines begins with an article number`,
    hint: 'An overview file has one article a line: number, subject, from, date, message-id, ... with tabs between.',
  },
  IMPORT_LINE_TOO_LONG: {
    retriable: false,
    message: (f) => `line ${f.line} is longer than ${f.limit} bytes`,
    hint: 'This is no overview file, or it is compressed in a way that was not recognised.',
  },
  IMPORT_NZB_BROKEN: {
    retriable: false,
    message: (f) => `${f.file}, line ${f.line}: ${f.reason}`,
    hint: 'The file is left out, the others go on. Get the NZB anew, or mend that line.',
  },
  IMPORT_OVERLAPS: {
    retriable: false,
    message: (f) => `${range(f)} holds numbers that other ranges cover already: their articles would count twice`,
    hint: 'Import only lines of numbers that are new (see `headwater ranges list --group`), or import them under another backbone.',
  },
  IMPORT_OTHER_CONTENT: {
    retriable: false,
    message: (f) => `${range(f)} was begun by an import of another file`,
    hint: 'Import the file that was begun first to its end, or import this one under another backbone.',
  },
});

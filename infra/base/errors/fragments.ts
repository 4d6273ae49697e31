import { defineErrors } from './define.ts';

/** What can go wrong when pieces of files are merged. */
export const fragmentsErrors = defineErrors({
  FRAGMENTS_MERGE_TOO_LARGE: {
    retriable: false,
    message: (f) => `the pieces of the file ${f.fileHash} of ${f.group} hold ${f.bytes} bytes: too many for one merge`,
    hint: 'No real file is that large; its pieces are left as they are. Everything else goes on.',
  },
});

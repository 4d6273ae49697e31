import { defineErrors, type ErrorFields } from './define.ts';

/** Values of the environment have no line. */
const where = (f: ErrorFields): string => (f.line === undefined ? `${f.file}: ` : `${f.file}:${f.line}: `);
const more = (f: ErrorFields): string => (Number(f.more) > 0 ? ` (and ${f.more} more)` : '');

export const configErrors = defineErrors({
  CONFIG_NOT_FOUND: {
    retriable: false,
    message: (f) => `the configuration file ${f.file} cannot be read: ${f.reason}`,
    hint: 'Create it (infra/config/headwater.example.yaml is a start) or leave --config out.',
  },
  CONFIG_NOT_YAML: {
    retriable: false,
    message: (f) => `${where(f)}not YAML: ${f.reason}`,
    hint: 'Mend the line; values with a colon, # or a leading special character need quotes.',
  },
  CONFIG_UNKNOWN_KEY: {
    retriable: false,
    message: (f) => `${where(f)}unknown key "${f.key}"${more(f)}`,
    hint: 'Remove the key or correct its spelling; infra/config/README.md lists every key.',
  },
  CONFIG_WRONG_VALUE: {
    retriable: false,
    message: (f) => `${where(f)}"${f.key}" ${f.reason}${more(f)}`,
    hint: 'infra/config/README.md says what the key takes.',
  },
  CONFIG_MISSING_SECRET: {
    retriable: false,
    message: (f) => `${where(f)}"${f.key}" needs the environment variable ${f.variable}, which is not set`,
    hint: 'Set the variable for the process that runs Headwater, or write the value into the file.',
  },
});

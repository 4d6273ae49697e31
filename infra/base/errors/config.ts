import { defineErrors } from './define.ts';

export const configErrors = defineErrors({
  CONFIG_UNKNOWN_KEY: {
    retriable: false,
    message: (f) => `${f.file}:${f.line}: unknown key "${f.key}"`,
    hint: 'Remove the key or correct its spelling; infra/config/README.md lists every key.',
  },
});

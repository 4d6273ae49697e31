import { defineErrors, type ErrorFields } from './define.ts';

const where = (f: ErrorFields) => `${f.host}:${f.port}`;
const answer = (f: ErrorFields) => `${f.reply} ${f.text ?? ''}`.trimEnd();

/** Every NNTP error carries `class`, the retry class of the ledger: transient, absent, denied, unsupported or busy. */
export const nntpErrors = defineErrors({
  NNTP_CONNECT_FAILED: {
    retriable: true,
    message: (f) => `cannot connect to ${where(f)}: ${f.reason}`,
    hint: 'Check host, port and the tls setting of the provider (563 is usually TLS, 119 plain), and the network.',
  },
  NNTP_TLS_UNTRUSTED: {
    retriable: false,
    message: (f) => `the certificate of ${where(f)} is not trusted: ${f.reason}`,
    hint: 'Correct the host name, or name the authority in the `ca` setting of the provider.',
  },
  NNTP_AUTH_REJECTED: {
    retriable: false,
    message: (f) => `${where(f)} denies access (${f.command}): ${answer(f)}`,
    hint: 'Check user, password and subscription of the provider. It is tried again after growing pauses, and at once after a restart.',
  },
  NNTP_TOO_MANY_CONNECTIONS: {
    retriable: true,
    message: (f) => `${where(f)} says that the account has too many connections: ${answer(f)}`,
    hint: 'Lower `connections` of the provider, or stop other programs that use the account.',
  },
  NNTP_TIMEOUT: {
    retriable: true,
    message: (f) => `${where(f)} was silent for ${f.ms} ms (${f.kind}, ${f.command})`,
    hint: 'The provider or the network is slow; it is tried again.',
  },
  NNTP_CONNECTION_CLOSED: {
    retriable: true,
    message: (f) => `the connection to ${where(f)} is closed: ${f.reason}`,
    hint: 'The provider or the network ended it; it is tried again.',
  },
  NNTP_NO_SUCH_GROUP: {
    retriable: false,
    message: (f) => `${where(f)} has no such group (${f.command}): ${answer(f)}`,
    hint: 'Remove the group from the list, or correct its name.',
  },
  NNTP_NO_SUCH_ARTICLE: {
    retriable: false,
    message: (f) => `${where(f)} does not have the article (${f.command}): ${answer(f)}`,
    hint: 'Another provider may have it.',
  },
  NNTP_COMMAND_UNSUPPORTED: {
    retriable: false,
    message: (f) => `${where(f)} does not know or cannot serve ${f.command}: ${answer(f)}`,
    hint: 'The provider lacks this command; use another one for this work.',
  },
  NNTP_UNEXPECTED_REPLY: {
    retriable: true,
    message: (f) => `${where(f)} answered ${f.command} unexpectedly: ${answer(f)}`,
    hint: 'If it goes on, the provider does not speak NNTP as it should: report the reply.',
  },
  NNTP_SERVICE_UNAVAILABLE: {
    retriable: true,
    message: (f) => `${where(f)} is not available (${f.command}): ${answer(f)}`,
    hint: 'The provider has an outage or ended the session; it is tried again.',
  },
  NNTP_REPLY_TOO_LARGE: {
    retriable: false,
    message: (f) => `${where(f)} sent more than ${f.limit} bytes of ${f.what} (${f.command})`,
    hint: 'The reply was refused to protect memory; the provider sends something else than was asked for.',
  },
  NNTP_COMPRESSION_BROKEN: {
    retriable: true,
    message: (f) => `a compressed reply of ${where(f)} is broken (${f.command}): ${f.reason}`,
    hint: 'Its range is read again without compression. If it goes on, set `compression: none` for the provider.',
  },
  NNTP_COMPRESSION_UNUSABLE: {
    retriable: true,
    message: (f) => `${f.times} compressed replies of ${where(f)} in a row were broken: it is read plainly for now`,
    hint: 'Set `compression` of the provider to none, or to another form that it offers.',
  },
  NNTP_POOL_FULL: {
    retriable: true,
    message: (f) => `${f.waiting} callers wait for a connection to ${where(f)} already`,
    hint: 'More work was started at once than the connections of the provider can take.',
  },
  NNTP_POOL_CLOSED: {
    retriable: false,
    message: (f) => `the connections to ${where(f)} are shut down`,
    hint: 'The service stops.',
  },
});

import type { Exchange, Reply } from './exchange.ts';
import { refusal, type ServerIdentity, type StatusLine } from './refusal.ts';
import type { NntpProviderSettings } from './settings.ts';

/** Capability labels in upper case with their arguments; null when the server does not know CAPABILITIES. */
export type Capabilities = ReadonlyMap<string, readonly string[]> | null;

export interface LoginContext {
  readonly settings: NntpProviderSettings;
  readonly server: ServerIdentity;
}

const CAPABILITY_BYTES = 65_536;

/** The lines of a 101 reply. */
export function parseCapabilities(text: string): NonNullable<Capabilities> {
  const lines = text.split('\r\n').map((line) => line.trim().split(/\s+/));
  return new Map(lines.filter(([label]) => label).map(([label = '', ...args]) => [label.toUpperCase(), args]));
}

export async function askCapabilities(exchange: Exchange, { server }: LoginContext): Promise<Capabilities> {
  const parts: Buffer[] = [];
  const block = { code: 101, maxBytes: CAPABILITY_BYTES, sink: (lines: Buffer) => void parts.push(lines) };
  const reply = await exchange.request({ line: 'CAPABILITIES', label: 'CAPABILITIES', expect: [101], block });
  if (reply.code === 101) return parseCapabilities(Buffer.concat(parts).toString('utf8'));
  // Old servers do not know the command, others hide it until the login; both go on without it.
  const error = refusal(reply, 'CAPABILITIES', server, 'login');
  if (reply.code === 400 || error.code === 'NNTP_TOO_MANY_CONNECTIONS') throw error;
  return null;
}

/** Throws the typed error unless the server's own first line welcomes. */
export function checkGreeting(greeting: StatusLine, server: ServerIdentity): void {
  if (greeting.code !== 200 && greeting.code !== 201) throw refusal(greeting, 'connect', server, 'login');
}

export async function askStartTls(exchange: Exchange, { server }: LoginContext): Promise<void> {
  const reply = await exchange.request({ line: 'STARTTLS', label: 'STARTTLS', expect: [382] });
  if (reply.code !== 382) throw refusal(reply, 'STARTTLS', server, 'login');
}

/**
 * Everything between the (secured) greeting and the first real command: CAPABILITIES, MODE READER where the server
 * needs it, AUTHINFO. Returns what the server can do afterwards.
 */
export async function login(exchange: Exchange, context: LoginContext): Promise<Capabilities> {
  const before = await askCapabilities(exchange, context);
  // RFC 4643 wants MODE READER before AUTHINFO, but some servers answer it 480 until the login.
  const reading = needsModeReader(before) ? await modeReader(exchange, context) : 'done';
  if (!context.settings.account) return reading === 'done' ? before : refuseUnread(context);
  await authenticate(exchange, context);
  const after = await askCapabilities(exchange, context);
  const again = reading === 'login first' && needsModeReader(after);
  if (again && (await modeReader(exchange, context)) === 'login first') return refuseUnread(context);
  return after;
}

const needsModeReader = (capabilities: Capabilities): boolean =>
  capabilities === null || (capabilities.has('MODE-READER') && !capabilities.has('READER'));

async function modeReader(exchange: Exchange, { server }: LoginContext): Promise<'done' | 'login first'> {
  const reply = await exchange.request({ line: 'MODE READER', label: 'MODE READER', expect: [200, 201] });
  if (reply.code < 300 || reply.code === 500 || reply.code === 501 || reply.code === 503) return 'done';
  if (reply.code === 480) return 'login first';
  throw refusal(reply, 'MODE READER', server, 'login');
}

function refuseUnread({ server }: LoginContext): never {
  throw refusal({ code: 480, text: 'a login is required' }, 'MODE READER', server, 'login');
}

async function authenticate(exchange: Exchange, { settings, server }: LoginContext): Promise<void> {
  const { account } = settings;
  if (!account) return;
  const send = (word: string, value: string): Promise<Reply> =>
    exchange.request({ line: `AUTHINFO ${word} ${value}`, label: `AUTHINFO ${word}`, expect: [281, 381] });
  const user = await send('USER', account.user);
  if (user.code === 281) return;
  if (user.code !== 381) throw refusal(user, 'AUTHINFO USER', server, 'login');
  const pass = await send('PASS', account.pass);
  if (pass.code !== 281) throw refusal(pass, 'AUTHINFO PASS', server, 'login');
}

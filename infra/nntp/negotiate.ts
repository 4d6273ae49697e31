import { isHeadwaterError } from '../base/errors/index.ts';
import type { CompressionChoice } from './compressionChoice.ts';
import type { Exchange, Reply } from './exchange.ts';
import type { Capabilities } from './login.ts';
import { nntpError, refusal, type ServerIdentity } from './refusal.ts';
import type { Compression, Dialect } from './settings.ts';

export interface NegotiateContext {
  readonly server: ServerIdentity;
  readonly choice: CompressionChoice;
  /** Goes on over the same connection with both directions compressed. */
  readonly deflate: (exchange: Exchange) => Exchange;
}

export interface Negotiated {
  readonly exchange: Exchange;
  readonly compression: Compression;
}

/** How a dialect is switched on; XZVER is a command of its own and needs no switch. */
const SWITCHES: Readonly<Record<Dialect, readonly { readonly line: string; readonly code: number }[]>> = {
  deflate: [{ line: 'COMPRESS DEFLATE', code: 206 }],
  // With the terminator inside, the end of a reply is certain: asked for first.
  xfeature: [
    { line: 'XFEATURE COMPRESS GZIP TERMINATOR', code: 290 },
    { line: 'XFEATURE COMPRESS GZIP', code: 290 },
  ],
  xzver: [],
};

/**
 * The last step after TLS and login: switches on the first dialect that the server takes. What it refuses is remembered.
 * Rejects with NNTP_COMPRESSION_BROKEN when the connection does not survive that.
 */
export async function negotiate(
  exchange: Exchange,
  capabilities: Capabilities,
  context: NegotiateContext,
): Promise<Negotiated> {
  for (const dialect of context.choice.candidates(capabilities)) {
    // Whether XZVER is known shows with the first range.
    if (dialect === 'xzver' || (await switchOn(dialect, exchange, context))) {
      if (dialect !== 'xzver') context.choice.accepted(dialect);
      if (dialect !== 'deflate') return { exchange, compression: dialect };
      const inside = context.deflate(exchange);
      await prove(inside, context);
      return { exchange: inside, compression: dialect };
    }
  }
  return { exchange, compression: 'none' };
}

async function switchOn(dialect: Dialect, exchange: Exchange, context: NegotiateContext): Promise<boolean> {
  let code = 0;
  for (const { line, code: yes } of SWITCHES[dialect]) {
    const reply = await ask(line, yes, exchange, context, dialect);
    if (reply.code === yes) return true;
    const error = refusal(reply, line, context.server);
    if (reply.code === 400 || error.code === 'NNTP_TOO_MANY_CONNECTIONS') throw error;
    code = reply.code;
  }
  // 403 is "not now".
  if (code >= 500) context.choice.refused(dialect, code);
  return false;
}

/** Any answer at all shows that both directions work, before a range depends on them. */
async function prove(exchange: Exchange, context: NegotiateContext): Promise<void> {
  await ask('DATE', 111, exchange, context, 'deflate');
}

async function ask(
  line: string,
  code: number,
  exchange: Exchange,
  { server, choice }: NegotiateContext,
  dialect: Dialect,
): Promise<Reply> {
  try {
    return await exchange.request({ line, label: line, expect: [code] });
  } catch (error) {
    if (!isHeadwaterError(error) || error.code === 'NNTP_POOL_CLOSED') throw error;
    const broken = nntpError('NNTP_COMPRESSION_BROKEN', server, { command: line, reason: error.message }, error);
    choice.broke(dialect, broken);
    throw broken;
  }
}

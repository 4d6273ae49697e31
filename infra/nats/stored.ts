/** Reading single messages back. The leader is asked where a stale answer would be a wrong one. */
import type { StoredMsg } from '@nats-io/jetstream';
import type { WireMessage } from '../../streams/envelope.ts';
import type { StreamFamily } from '../../streams/topology.ts';
import { parseStreamName, STREAMS } from '../../streams/topology.ts';
import { plainHeaders } from './decode.ts';
import type { NatsLink } from './link.ts';

export interface StoredWire {
  readonly sequence: number;
  readonly wire: WireMessage;
}

const toWire = (message: StoredMsg | null): StoredWire | null =>
  message && {
    sequence: message.seq,
    wire: { subject: message.subject, headers: plainHeaders(message.header), payload: message.data },
  };

/** The message with this sequence, from any replica; a replica that lags may not have it, so the leader has the last word. */
export async function messageAt(link: NatsLink, stream: string, sequence: number): Promise<StoredWire | null> {
  const direct = await link.jsm.direct.getMessage(stream, { seq: sequence });
  return toWire(direct ?? (await link.jsm.streams.getMessage(stream, { seq: sequence })));
}

/** The first message after `sequence` whose subject the filter matches, as the leader knows it. */
export async function messageAfter(
  link: NatsLink,
  stream: string,
  sequence: number,
  filter: string,
): Promise<StoredWire | null> {
  // The server takes `next_by_subj` here as in a direct get; the client's type only lacks it.
  const query = { seq: sequence + 1, next_by_subj: filter };
  return toWire(await link.jsm.streams.getMessage(stream, query));
}

/** As `messageAfter`, from any replica first: cheaper for many large messages in a row. */
export async function messageAfterDirect(
  link: NatsLink,
  stream: string,
  sequence: number,
  subject: string,
): Promise<StoredWire | null> {
  const query = { seq: sequence + 1, next_by_subj: subject };
  return toWire(await link.jsm.direct.getMessage(stream, query)) ?? messageAfter(link, stream, sequence, subject);
}

/** The last message on a subject, as the leader knows it. */
export const lastOn = async (link: NatsLink, stream: string, subject: string): Promise<StoredWire | null> =>
  toWire(await link.jsm.streams.getMessage(stream, { last_by_subj: subject }));

/** The numbers of a family's streams that exist, ascending; the highest is open. 1 stands for a stream that never rolls. */
export async function streamNumbers(link: NatsLink, family: StreamFamily): Promise<readonly number[]> {
  if (!STREAMS[family].rolls) return [1];
  const numbers: number[] = [];
  for await (const name of link.jsm.streams.names()) {
    const parsed = parseStreamName(name);
    if (parsed?.family === family) numbers.push(parsed.number);
  }
  return numbers.sort((a, b) => a - b);
}

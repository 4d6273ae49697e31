import type { StreamState } from '../../processors/ports.ts';
import { type StreamFamily, streamName } from '../../streams/topology.ts';
import type { NatsLink } from './link.ts';
import { streamNumbers } from './stored.ts';

/**
 * The state of a family over all its numbers: created when the first was, first message of the first, last of the open
 * one. Throws the client's "stream not found" when there is none.
 */
export async function readStreamState(link: NatsLink, family: StreamFamily): Promise<StreamState> {
  const numbers = await streamNumbers(link, family);
  const known = numbers.length > 0 ? numbers : [1];
  const infos = await Promise.all(known.map((number) => link.jsm.streams.info(streamName(family, number))));
  const oldest = infos[0]!;
  const open = infos.at(-1)!;
  return {
    createdAt: Date.parse(oldest.created),
    first: { number: known[0]!, sequence: oldest.state.first_seq },
    last: { number: known.at(-1)!, sequence: open.state.last_seq },
    messages: infos.reduce((sum, info) => sum + info.state.messages, 0),
    bytes: infos.reduce((sum, info) => sum + info.state.bytes, 0),
    maxBytes: open.config.max_bytes,
  };
}

import { encodeChunkColumns } from '../../streams/codec/chunk.ts';
import { slicePieces } from '../../streams/codec/fragments.ts';
import { decodeOverviewBatch, inflateOverviewBatch } from '../../streams/codec/overviewBatch.ts';
import { sliceCandidates } from '../../streams/codec/probeCandidates.ts';
import type { GarbageSignature } from '../../streams/events/control.ts';
import type {
  EncodedChunk,
  Fragments,
  LineCounts,
  LoneBlob,
  Piece,
  ProbeCandidate,
  RangeRef,
} from '../../streams/records.ts';
import { overviewFormat } from './lines.ts';
import { createRangeParser, type ParsedRange, type RangeParser } from './parseRange.ts';
import type { NewContribution, NewRelease } from './releases.ts';
import type { GroupRanks } from './xref.ts';

export interface SessionOptions {
  readonly range: RangeRef;
  readonly groupRanks: GroupRanks;
  readonly garbage: readonly GarbageSignature[];
  readonly seed: number;
}

/** Chunks of about one message, and the contributions that end with them. */
export interface ReleasesStep {
  readonly kind: 'releases';
  readonly chunks: readonly EncodedChunk[];
  readonly contributions: readonly NewContribution[];
}

/** What is to be published together. Releases come first, then fragments, then candidates, each of these in one message. */
export type SessionStep =
  | ReleasesStep
  | { readonly kind: 'fragments'; readonly fragments: Fragments }
  | { readonly kind: 'candidates'; readonly candidates: readonly ProbeCandidate[] };

/** Payload bytes of the chunks of one step, about a message; a single larger chunk is a step of its own. */
const STEP_BYTES = 950_000;
const STEP_CONTRIBUTIONS = 4000;
/** Bytes of lone blobs that travel in one message; a larger one has a message to itself. */
const LONE_BYTES = 6_000_000;

/** From the compressed batches of one range to encoded chunks: what a worker thread does. Pure, without I/O or time. */
export class RangeSession {
  readonly #options: SessionOptions;
  #parser: RangeParser | null = null;
  #format: string | null = null;
  #lines = new Uint8Array(4_000_000);
  #steps: Iterator<SessionStep> | null = null;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** Adds the next batch as it lies in OVERVIEW. Throws CorruptPayload, or an Error when the batches do not fit together. */
  add(body: Uint8Array): void {
    const batch = decodeOverviewBatch(body);
    const lines = inflateOverviewBatch(batch, this.#lines);
    this.#parserFor(batch.format).addBatch(lines);
  }

  /** No batch follows. */
  finish(): LineCounts {
    const parsed = (this.#parser ?? this.#parserFor([])).finish();
    this.#steps = steps(parsed);
    return parsed.counts;
  }

  /** The next step; null when everything was given. Only after `finish`. */
  next(): SessionStep | null {
    const next = this.#steps?.next();
    return next && !next.done ? next.value : null;
  }

  #parserFor(format: readonly string[]): RangeParser {
    const name = JSON.stringify(format);
    if (this.#parser !== null && this.#format !== name) throw new Error('the batches have different overview formats');
    this.#format = name;
    this.#parser ??= createRangeParser({ ...this.#options, format: overviewFormat(format) });
    return this.#parser;
  }
}

function* steps(parsed: ParsedRange): Generator<SessionStep> {
  yield* releaseSteps(parsed);
  for (const fragments of fragmentSteps([...parsed.pieces()], parsed.lone())) yield { kind: 'fragments', fragments };
  for (const candidates of sliceCandidates([...parsed.candidates()])) yield { kind: 'candidates', candidates };
}

/** Packs releases into steps. A release whose chunks fill several steps is a contribution of the last of them. */
function* releaseSteps(parsed: ParsedRange): Generator<ReleasesStep> {
  let chunks: EncodedChunk[] = [];
  let contributions: NewContribution[] = [];
  let bytes = 0;
  const step = (): ReleasesStep => {
    const full = { kind: 'releases', chunks, contributions } as const;
    chunks = [];
    contributions = [];
    bytes = 0;
    return full;
  };
  for (const release of parsed.releases()) {
    for (const chunk of encoded(release)) {
      if (chunks.length > 0 && bytes + chunk.payload.length > STEP_BYTES) yield step();
      chunks.push(chunk);
      bytes += chunk.payload.length;
    }
    contributions.push(release.contribution);
    if (contributions.length >= STEP_CONTRIBUTIONS) yield step();
  }
  if (contributions.length > 0) yield step();
}

function* encoded({ chunks }: NewRelease): Generator<EncodedChunk> {
  for (const { content, ...head } of chunks) yield { ...head, payload: encodeChunkColumns(content) };
}

/** Pieces cut into messages; the blobs ride with the last of them where they fit. */
export function fragmentSteps(pieces: readonly Piece[], lone: readonly LoneBlob[]): Fragments[] {
  const messages: Fragments[] = slicePieces(pieces).map((slice) => ({ pieces: slice, lone: [] }));
  const last = messages.pop();
  const bytes = lone.reduce((sum, blob) => sum + blob.payload.length + blob.hashes.length, 0);
  if (bytes <= LONE_BYTES) {
    if (last !== undefined || lone.length > 0) messages.push({ pieces: last?.pieces ?? [], lone });
    return messages;
  }
  if (last !== undefined) messages.push(last);
  return [...messages, ...lone.map((blob) => ({ pieces: [], lone: [blob] }))];
}

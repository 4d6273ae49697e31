import { encodeChunkColumns } from '../../streams/codec/chunk.ts';
import { decodeOverviewBatch, inflateOverviewBatch } from '../../streams/codec/overviewBatch.ts';
import type { EncodedChunk, LineCounts, RangeRef } from '../../streams/records.ts';
import { overviewFormat } from './lines.ts';
import { createRangeParser, type ParsedRange, type RangeParser } from './parseRange.ts';
import type { NewContribution, NewRelease } from './releases.ts';
import type { GroupRanks } from './xref.ts';

export interface SessionOptions {
  readonly range: RangeRef;
  readonly groupRanks: GroupRanks;
  readonly seed: number;
}

/** What is to be published together: chunks of about one message, and the contributions that end with them. */
export interface SessionStep {
  readonly chunks: readonly EncodedChunk[];
  readonly contributions: readonly NewContribution[];
}

/** Payload bytes of the chunks of one step, about a message; a single larger chunk is a step of its own. */
const STEP_BYTES = 950_000;
const STEP_CONTRIBUTIONS = 4000;

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

/** Packs releases into steps. A release whose chunks fill several steps is a contribution of the last of them. */
function* steps(parsed: ParsedRange): Generator<SessionStep> {
  let chunks: EncodedChunk[] = [];
  let contributions: NewContribution[] = [];
  let bytes = 0;
  for (const release of parsed.releases()) {
    for (const chunk of encoded(release)) {
      if (chunks.length > 0 && bytes + chunk.payload.length > STEP_BYTES) {
        yield { chunks, contributions };
        chunks = [];
        contributions = [];
        bytes = 0;
      }
      chunks.push(chunk);
      bytes += chunk.payload.length;
    }
    contributions.push(release.contribution);
    if (contributions.length < STEP_CONTRIBUTIONS) continue;
    yield { chunks, contributions };
    chunks = [];
    contributions = [];
    bytes = 0;
  }
  if (contributions.length > 0) yield { chunks, contributions };
}

function* encoded({ chunks }: NewRelease): Generator<EncodedChunk> {
  for (const { content, ...head } of chunks) yield { ...head, payload: encodeChunkColumns(content) };
}

import { parentPort } from 'node:worker_threads';
import { initCompression } from '../../streams/codec/compression.ts';
import { RangeSession, type SessionStep } from './rangeSession.ts';
import type { WorkerReply, WorkerRequest } from './workerMessages.ts';

/** The thread that owns a range from inflating its batches to its encoded chunks. One range at a time. */
let session: RangeSession | null = null;

/** Copies byte strings into one buffer of their own, which can be handed over without a further copy. */
class Packing {
  readonly #all: Uint8Array<ArrayBuffer>;
  #at = 0;

  constructor(bytes: number) {
    this.#all = new Uint8Array(bytes);
  }

  get buffer(): ArrayBuffer {
    return this.#all.buffer;
  }

  put(bytes: Uint8Array): Uint8Array {
    const copy = this.#all.subarray(this.#at, this.#at + bytes.length);
    copy.set(bytes);
    this.#at += bytes.length;
    return copy;
  }
}

const payloadBytes = (list: readonly { readonly payload: Uint8Array }[]): number =>
  list.reduce((sum, { payload }) => sum + payload.length, 0);

/** A step with all of its payloads in one buffer; null when it has none. */
function packed(step: SessionStep): { readonly step: SessionStep; readonly buffer: ArrayBuffer | null } {
  switch (step.kind) {
    case 'releases': {
      const packing = new Packing(payloadBytes(step.chunks));
      const chunks = step.chunks.map((chunk) => ({ ...chunk, payload: packing.put(chunk.payload) }));
      return { step: { ...step, chunks }, buffer: packing.buffer };
    }
    case 'fragments': {
      const { pieces, lone } = step.fragments;
      const hashBytes = lone.reduce((sum, { hashes }) => sum + hashes.length, 0);
      const packing = new Packing(payloadBytes(pieces) + payloadBytes(lone) + hashBytes);
      const fragments = {
        pieces: pieces.map((piece) => ({ ...piece, payload: packing.put(piece.payload) })),
        lone: lone.map((blob) => ({ ...blob, hashes: packing.put(blob.hashes), payload: packing.put(blob.payload) })),
      };
      return { step: { ...step, fragments }, buffer: packing.buffer };
    }
    case 'candidates':
      return { step, buffer: null };
  }
}

function answer(request: WorkerRequest): { readonly reply: WorkerReply; readonly transfer?: ArrayBuffer } {
  if (request.kind === 'open') {
    session = new RangeSession(request.options);
    return { reply: { kind: 'ok' } };
  }
  if (session === null) throw new TypeError(`"${request.kind}" without an open range`);
  switch (request.kind) {
    case 'add':
      session.add(request.body);
      return { reply: { kind: 'ok' } };
    case 'finish':
      return { reply: { kind: 'counts', counts: session.finish() } };
    case 'next': {
      const step = session.next();
      if (step === null) {
        session = null;
        return { reply: { kind: 'step', step } };
      }
      const { step: moved, buffer } = packed(step);
      return { reply: { kind: 'step', step: moved }, ...(buffer === null ? {} : { transfer: buffer }) };
    }
  }
}

await initCompression();
parentPort?.on('message', (request: WorkerRequest) => {
  try {
    const { reply, transfer } = answer(request);
    parentPort?.postMessage(reply, transfer ? [transfer] : []);
  } catch (error) {
    session = null;
    const reason = error instanceof Error ? error.message : String(error);
    parentPort?.postMessage({ kind: 'broken', reason } satisfies WorkerReply);
  }
});

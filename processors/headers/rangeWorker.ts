import { parentPort } from 'node:worker_threads';
import { initCompression } from '../../streams/codec/compression.ts';
import type { EncodedChunk } from '../../streams/records.ts';
import { RangeSession, type SessionStep } from './rangeSession.ts';
import type { WorkerReply, WorkerRequest } from './workerMessages.ts';

/** The thread that owns a range from inflating its batches to its encoded chunks. One range at a time. */
let session: RangeSession | null = null;

/** The payloads in one buffer of their own, which can be handed over without a copy. */
function packed(step: SessionStep): { readonly step: SessionStep; readonly buffer: ArrayBuffer } {
  const all = new Uint8Array(step.chunks.reduce((sum, { payload }) => sum + payload.length, 0));
  let at = 0;
  const chunks = step.chunks.map((chunk): EncodedChunk => {
    const payload = all.subarray(at, at + chunk.payload.length);
    payload.set(chunk.payload);
    at += payload.length;
    return { ...chunk, payload };
  });
  return { step: { ...step, chunks }, buffer: all.buffer };
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
      return { reply: { kind: 'step', step: moved }, transfer: buffer };
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

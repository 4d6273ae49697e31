import type { LineCounts } from '../../streams/records.ts';
import type { SessionOptions, SessionStep } from './rangeSession.ts';

/** What a worker is asked; it answers each question before it reads the next. */
export type WorkerRequest =
  | { readonly kind: 'open'; readonly options: SessionOptions }
  /** The body is transferred, not copied. */
  | { readonly kind: 'add'; readonly body: Uint8Array }
  | { readonly kind: 'finish' }
  | { readonly kind: 'next' };

export type WorkerReply =
  | { readonly kind: 'ok' }
  | { readonly kind: 'counts'; readonly counts: LineCounts }
  /** `step` null: everything was given. The payloads are transferred. */
  | { readonly kind: 'step'; readonly step: SessionStep | null }
  /** The range breaks the parser; the worker itself is well. */
  | { readonly kind: 'broken'; readonly reason: string };

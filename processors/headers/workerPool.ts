import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { HeadwaterError } from '../../infra/base/errors/index.ts';
import type { WorkerReply, WorkerRequest } from './workerMessages.ts';

/** A core is left for the loop, the database and the rest; one worker there always is. */
export const defaultWorkers = (): number => Math.max(1, availableParallelism() - 1);

interface Question {
  readonly resolve: (reply: WorkerReply) => void;
  readonly reject: (error: Error) => void;
  /** Resolves with the answer or without one. */
  readonly answered: Promise<void>;
}

/** One worker thread, asked one question at a time. */
export class RangeThread {
  readonly #worker: Worker;
  #waiting: Question | null = null;
  #ended: Error | null = null;

  constructor() {
    // From the sources (tests, development) the thread has to be taught TypeScript; compiled it is plain JavaScript.
    const source = import.meta.url.endsWith('.ts');
    const file = source ? './rangeWorkerFromSource.mjs' : './rangeWorker.js';
    this.#worker = new Worker(new URL(file, import.meta.url));
    // An idle worker must not keep a process alive that has nothing else to do.
    this.#worker.unref();
    this.#worker.on('message', (reply: WorkerReply) => this.#answered(reply));
    this.#worker.on('error', (error) => this.#end(error.message));
    this.#worker.on('exit', (code) => this.#end(`exit code ${code}`));
  }

  get alive(): boolean {
    return this.#ended === null;
  }

  /** Rejects with HEADERS_WORKER_DIED when the thread ends, and with the signal's reason; both end the thread. */
  async ask(request: WorkerRequest, signal: AbortSignal, transfer: ArrayBuffer[] = []): Promise<WorkerReply> {
    signal.throwIfAborted();
    if (this.#ended) throw this.#ended;
    if (this.#waiting) throw new TypeError('a worker thread was asked twice at a time');
    const onAbort = () => this.#end('stopped', signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    this.#worker.ref();
    try {
      return await this.#post(request, transfer);
    } finally {
      this.#worker.unref();
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Resolves when nothing is asked any more: whoever left a question behind an error lets it be answered. */
  async quiet(): Promise<void> {
    while (this.#waiting) await this.#waiting.answered;
  }

  async close(): Promise<void> {
    this.#end('closed');
    await this.#worker.terminate();
  }

  #post(request: WorkerRequest, transfer: ArrayBuffer[]): Promise<WorkerReply> {
    let settle: Pick<Question, 'resolve' | 'reject'> | undefined;
    const reply = new Promise<WorkerReply>((resolve, reject) => {
      settle = { resolve, reject };
    });
    const answered = reply.then(
      () => {},
      () => {},
    );
    if (settle) this.#waiting = { ...settle, answered };
    this.#worker.postMessage(request, transfer);
    return reply;
  }

  #answered(reply: WorkerReply): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.resolve(reply);
  }

  #end(reason: string, error: Error = new HeadwaterError('HEADERS_WORKER_DIED', { reason })): void {
    if (this.#ended) return;
    this.#ended = error;
    this.#waiting?.reject(error);
    this.#waiting = null;
    void this.#worker.terminate();
  }
}

/** A bounded number of threads, started when they are first needed and kept. */
export class WorkerPool {
  readonly size: number;
  readonly #idle: RangeThread[] = [];
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  constructor(size: number = defaultWorkers()) {
    this.size = Math.max(1, size);
  }

  /** Runs `use` with a thread that nobody else uses. The thread outlives an error of `use` that is not its own. */
  async withThread<T>(use: (thread: RangeThread) => Promise<T>): Promise<T> {
    if (this.#taken >= this.size) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#taken++;
    const thread = this.#thread();
    try {
      return await use(thread);
    } finally {
      await thread.quiet();
      if (thread.alive) this.#idle.push(thread);
      const next = this.#waiting.shift();
      if (next) next();
      else this.#taken--;
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#idle.splice(0).map((thread) => thread.close()));
  }

  #thread(): RangeThread {
    for (let thread = this.#idle.pop(); thread; thread = this.#idle.pop()) if (thread.alive) return thread;
    return new RangeThread();
  }
}

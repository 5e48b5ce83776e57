/**
 * Compression and decompression on other threads. The threads are shared by all streams of the process, started when there is work (30-56
 * ms each), let go when there has been none for a while, and never keep the process alive by themselves. wasm memory
 * never shrinks: a thread that has had a huge chunk is replaced.
 */
import { Worker } from 'node:worker_threads';
import type { Compressed, CompressTask, Decompressed, DecompressTask, Reply, Request } from './compression-worker.js';

const IDLE_MS = 2000;
const HUGE = 32 * 2 ** 20;

interface Task {
  readonly request: Request;
  /** Memory that is handed over with it. */
  readonly memory: ArrayBuffer;
  /** Bytes that the thread's own memory grows to. */
  readonly size: number;
  readonly resolve: (result: Decompressed | Compressed) => void;
  readonly reject: (error: Error) => void;
}

class Thread {
  readonly worker: Worker;
  task: Task | undefined;
  /** The thread is not used again. */
  retired = false;

  constructor() {
    this.worker = new Worker(new URL('./compression-worker.js', import.meta.url));
    this.worker.unref();
  }
}

class Pool {
  readonly #threads: Thread[] = [];
  readonly #waiting: Task[] = [];
  #nextId = 0;
  #limit = 0;
  #idle: NodeJS.Timeout | undefined;

  decompress(task: DecompressTask, threads: number): Promise<Decompressed> {
    // A copy of its own can be handed over; the view's memory may hold other records.
    const bytes = Uint8Array.prototype.slice.call(task.bytes);
    const request: Request = { id: this.#nextId++, decompress: { ...task, bytes } };
    return this.#run(request, bytes, task.size, threads);
  }

  compress(task: CompressTask, threads: number): Promise<Compressed> {
    const request: Request = { id: this.#nextId++, compress: task };
    return this.#run(request, task.bytes, task.bytes.length, threads) as Promise<Compressed>;
  }

  #run(request: Request, bytes: Uint8Array, size: number, threads: number): Promise<Decompressed | Compressed> {
    this.#limit = Math.max(this.#limit, threads);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, memory: bytes.buffer as ArrayBuffer, size, resolve, reject });
      this.#assign();
    });
  }

  #assign(): void {
    clearTimeout(this.#idle);
    while (this.#waiting.length > 0) {
      const thread = this.#threads.find(({ task }) => task === undefined) ?? this.#start();
      if (thread === undefined) return;
      const task = this.#waiting.shift();
      if (task === undefined) return;
      thread.task = task;
      thread.worker.ref();
      thread.worker.postMessage(task.request, [task.memory]);
    }
    if (this.#threads.some(({ task }) => task !== undefined)) return;
    this.#idle = setTimeout(() => {
      for (const thread of this.#threads.splice(0)) this.#retire(thread);
    }, IDLE_MS).unref();
  }

  #start(): Thread | undefined {
    if (this.#threads.length >= this.#limit) return undefined;
    const thread = new Thread();
    this.#threads.push(thread);
    thread.worker.on('message', (reply: Reply) => {
      this.#finish(thread, reply);
    });
    thread.worker.on('error', (error) => {
      this.#lose(thread, error instanceof Error ? error : new Error(String(error)));
    });
    thread.worker.on('exit', () => {
      this.#lose(thread, new Error('the compression thread has ended'));
    });
    return thread;
  }

  #finish(thread: Thread, reply: Reply): void {
    const { task } = thread;
    thread.task = undefined;
    thread.worker.unref();
    if (task === undefined) return;
    if (task.size > HUGE) {
      this.#threads.splice(this.#threads.indexOf(thread), 1);
      this.#retire(thread);
    }
    if ('error' in reply) task.reject(new Error(reply.error));
    else task.resolve(reply.result);
    this.#assign();
  }

  #retire(thread: Thread): void {
    thread.retired = true;
    void thread.worker.terminate();
  }

  #lose(thread: Thread, error: Error): void {
    if (thread.retired) return;
    thread.retired = true;
    const at = this.#threads.indexOf(thread);
    if (at >= 0) this.#threads.splice(at, 1);
    thread.task?.reject(error);
    thread.task = undefined;
    this.#assign();
  }
}

const POOL = new Pool();

/** Decompresses a chunk on one of up to `threads` threads. Rejects with a plain Error where it does not decompress. */
export function decompressOnThread(
  compression: string,
  bytes: Uint8Array,
  size: number,
  withCrc: boolean,
  threads: number,
): Promise<Decompressed> {
  return POOL.decompress({ compression, bytes, size, withCrc }, threads);
}

/**
 * Compresses a chunk on one of up to `threads` threads. The whole memory of `bytes` is lent to it and comes back with the
 * result; it cannot be used in the meantime.
 */
export function compressOnThread(task: CompressTask, threads: number): Promise<Compressed> {
  return POOL.compress(task, threads);
}

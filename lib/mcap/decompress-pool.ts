/**
 * Decompression on other threads. The threads are shared by all streams of the process, started when there is work (30-56
 * ms each), let go when there has been none for a while, and never keep the process alive by themselves. wasm memory
 * never shrinks: a thread that has had a huge chunk is replaced.
 */
import { Worker } from 'node:worker_threads';
import type { Reply, Request } from './decompress-worker.js';

export interface Decompressed {
  readonly bytes: Uint8Array;
  /** CRC-32 of `bytes`, where it was asked for. */
  readonly crc: number | undefined;
}

/** The thread could not be started, or ended: the chunk may be sound, and can be decompressed here. */
export class ThreadLost extends Error {}

const IDLE_MS = 2000;
const HUGE = 32 * 2 ** 20;

interface Task {
  readonly request: Request;
  readonly resolve: (result: Decompressed) => void;
  readonly reject: (error: Error) => void;
}

class Thread {
  readonly worker: Worker;
  task: Task | undefined;
  /** The thread is not used again. */
  retired = false;

  constructor() {
    // The process's own flags are not for it: --input-type, for one, refuses to load a file.
    this.worker = new Worker(new URL('./decompress-worker.js', import.meta.url), { execArgv: [] });
    this.worker.unref();
  }
}

class Pool {
  readonly #threads: Thread[] = [];
  readonly #waiting: Task[] = [];
  #nextId = 0;
  #limit = 0;
  #idle: NodeJS.Timeout | undefined;

  run(compression: string, bytes: Uint8Array, size: number, withCrc: boolean, threads: number): Promise<Decompressed> {
    this.#limit = Math.max(this.#limit, threads);
    return new Promise((resolve, reject) => {
      // A copy of its own can be handed over; the view's memory may hold other records.
      const request = { id: this.#nextId++, compression, bytes: Uint8Array.prototype.slice.call(bytes), size, withCrc };
      this.#waiting.push({ request, resolve, reject });
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
      thread.worker.postMessage(task.request, [task.request.bytes.buffer as ArrayBuffer]);
    }
    if (this.#threads.some(({ task }) => task !== undefined)) return;
    this.#idle = setTimeout(() => {
      for (const thread of this.#threads.splice(0)) this.#retire(thread);
    }, IDLE_MS).unref();
  }

  #start(): Thread | undefined {
    if (this.#threads.length >= this.#limit) return undefined;
    let thread: Thread;
    try {
      thread = new Thread();
    } catch (error) {
      // Not allowed here, as under --permission.
      const lost = new ThreadLost('no decompression thread can be started', { cause: error });
      for (const task of this.#waiting.splice(0)) task.reject(lost);
      return undefined;
    }
    this.#threads.push(thread);
    thread.worker.on('message', (reply: Reply) => {
      this.#finish(thread, reply);
    });
    thread.worker.on('error', (error) => {
      this.#lose(thread, new ThreadLost('the decompression thread has failed', { cause: error }));
    });
    thread.worker.on('exit', () => {
      this.#lose(thread, new ThreadLost('the decompression thread has ended'));
    });
    return thread;
  }

  #finish(thread: Thread, reply: Reply): void {
    const { task } = thread;
    thread.task = undefined;
    thread.worker.unref();
    if (task === undefined) return;
    if (task.request.size > HUGE) {
      this.#threads.splice(this.#threads.indexOf(thread), 1);
      this.#retire(thread);
    }
    if ('error' in reply) task.reject(new Error(reply.error));
    else task.resolve(reply);
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

/**
 * Decompresses a chunk on one of up to `threads` threads. Rejects with a plain Error where it does not decompress, with
 * ThreadLost where that was not tried.
 */
export function decompressOnThread(
  compression: string,
  bytes: Uint8Array,
  size: number,
  withCrc: boolean,
  threads: number,
): Promise<Decompressed> {
  return POOL.run(compression, bytes, size, withCrc, threads);
}

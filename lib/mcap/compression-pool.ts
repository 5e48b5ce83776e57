/**
 * Compression and decompression on other threads. The threads are shared by all streams of the process, started when
 * there is work (30-56 ms each), let go when there has been none for a while, and never keep the process alive by
 * themselves. wasm memory never shrinks: a thread that has had a huge chunk is replaced.
 */
import { Worker } from 'node:worker_threads';
import type { Compressed, CompressTask, Decompressed, DecompressTask, Reply, Request } from './compression-worker.js';

/** The thread could not be started, or ended: the chunk may be sound, and can be worked on here. */
export class ThreadLost extends Error {}

const IDLE_MS = 2000;
const HUGE = 32 * 2 ** 20;
/** Tasks that a thread has at once: the second is there when the first is done, whatever this thread is busy with. */
const TASKS = 2;

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
  readonly tasks = new Map<number, Task>();
  /** The thread is not given more. */
  retired = false;

  constructor() {
    // The process's own flags are not for it: --input-type, for one, refuses to load a file.
    this.worker = new Worker(new URL('./compression-worker.js', import.meta.url), { execArgv: [] });
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
      const thread = this.#free(1) ?? this.#start() ?? this.#free(TASKS);
      const task = thread && this.#waiting.shift();
      if (task === undefined) return;
      thread?.tasks.set(task.request.id, task);
      thread?.worker.ref();
      thread?.worker.postMessage(task.request, [task.memory]);
    }
    if (this.#threads.some(({ tasks }) => tasks.size > 0)) return;
    this.#idle = setTimeout(() => {
      for (const thread of this.#threads.splice(0)) this.#retire(thread);
    }, IDLE_MS).unref();
  }

  /** A thread with less than so many tasks. */
  #free(count: number): Thread | undefined {
    return this.#threads.find(({ tasks }) => tasks.size < count);
  }

  #start(): Thread | undefined {
    if (this.#threads.length >= this.#limit) return undefined;
    let thread: Thread;
    try {
      thread = new Thread();
    } catch (error) {
      // Not allowed here, as under --permission.
      const lost = new ThreadLost('no compression thread can be started', { cause: error });
      for (const task of this.#waiting.splice(0)) task.reject(lost);
      return undefined;
    }
    this.#threads.push(thread);
    thread.worker.on('message', (reply: Reply) => {
      this.#finish(thread, reply);
    });
    thread.worker.on('error', (error) => {
      this.#lose(thread, new ThreadLost('the compression thread has failed', { cause: error }));
    });
    thread.worker.on('exit', () => {
      this.#lose(thread, new ThreadLost('the compression thread has ended'));
    });
    return thread;
  }

  #finish(thread: Thread, reply: Reply): void {
    const task = thread.tasks.get(reply.id);
    if (task === undefined) return;
    thread.tasks.delete(reply.id);
    if (task.size > HUGE) this.#remove(thread);
    if (thread.tasks.size === 0) {
      thread.worker.unref();
      if (!this.#threads.includes(thread)) this.#retire(thread);
    }
    if ('error' in reply) task.reject(new Error(reply.error));
    else task.resolve(reply.result);
    this.#assign();
  }

  #remove(thread: Thread): void {
    const at = this.#threads.indexOf(thread);
    if (at >= 0) this.#threads.splice(at, 1);
  }

  #retire(thread: Thread): void {
    thread.retired = true;
    void thread.worker.terminate();
  }

  #lose(thread: Thread, error: Error): void {
    if (thread.retired) return;
    thread.retired = true;
    this.#remove(thread);
    for (const task of thread.tasks.values()) task.reject(error);
    thread.tasks.clear();
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
  return POOL.decompress({ compression, bytes, size, withCrc }, threads);
}

/**
 * Compresses a chunk on one of up to `threads` threads. The whole memory of `bytes` is lent to it and comes back with the
 * result; it cannot be used in the meantime. Rejects with ThreadLost, where the memory may still be here: `bytes.length` is
 * not 0 then.
 */
export function compressOnThread(task: CompressTask, threads: number): Promise<Compressed> {
  return POOL.compress(task, threads);
}

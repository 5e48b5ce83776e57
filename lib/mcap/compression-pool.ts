/**
 * Compression and decompression on other threads. The threads are shared by all streams of the process, started when
 * there is work (30-56 ms each), let go when there has been none for a while, and never keep the process alive by
 * themselves. wasm memory never shrinks: a thread that has had a huge chunk is replaced.
 *
 * zstd is decompressed, and on older Nodes compressed, on libuv's threads where that can be done (native-zstd.ts).
 *
 * A task waits here until a thread is up and has room for it, and whoever waits for a result may help (`helpThreads`). With
 * one thread, reading records out of zstd chunks was idle for 28 % of its time before, and the first threaded chunk waited
 * for the thread's start.
 */
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import { asBuffer } from './byte-queue.js';
import { builtInDecompressors } from './compression.js';
import type { Compressed, CompressTask, Decompressed, DecompressTask, Reply, Request } from './compression-worker.js';
import { crc32 } from './crc.js';
import { DEFAULT_ZSTD_LEVEL } from './compressors.js';
import { compressesNatively, compressNatively, decompressNatively, isNative, isNativeBusy } from './native-zstd.js';

/** The thread could not be started, or ended: the chunk may be sound, and can be worked on here. */
export class ThreadLost extends Error {}

const IDLE_MS = 2000;
const HUGE = 32 * 2 ** 20;
/** Larger chunks are left to the threads. Bytes. */
const MOST_HELPED = 4 * 2 ** 20;
/** Tasks that a thread has at once: the second is there when the first is done, whatever this thread is busy with. */
const TASKS = 2;

interface Task {
  readonly request: Request;
  /** Bytes that the thread's own memory grows to. */
  readonly size: number;
  readonly resolve: (result: Decompressed | Compressed) => void;
  readonly reject: (error: Error) => void;
}

class Thread {
  readonly worker: Worker;
  /** Requests go out here and replies come in: a port that can be looked into at any time, as a Worker's own cannot. */
  readonly port: MessagePort;
  readonly tasks = new Map<number, Task>();
  /** It has loaded its code. Until then tasks wait where they can still be done otherwise. */
  ready = false;
  /** The thread is not given more. */
  retired = false;

  constructor() {
    // The process's own flags are not for it: --input-type, for one, refuses to load a file.
    const { port1, port2 } = new MessageChannel();
    this.port = port1;
    this.worker = new Worker(new URL('./compression-worker.js', import.meta.url), {
      execArgv: [],
      workerData: port2,
      transferList: [port2],
      // What it throws away is little, and would not be looked for before there are 16 MB of it.
      resourceLimits: { maxYoungGenerationSizeMb: 4 },
    });
  }

  /** Whether it keeps the process alive. */
  keepAlive(needed: boolean): void {
    for (const handle of [this.worker, this.port]) {
      if (needed) handle.ref();
      else handle.unref();
    }
  }
}

class Pool {
  readonly #threads: Thread[] = [];
  readonly #waiting: Task[] = [];
  #nextId = 0;
  #limit = 0;
  #idle: NodeJS.Timeout | undefined;

  decompress(task: DecompressTask, threads: number): Promise<Decompressed> {
    const { compression, bytes, size } = task;
    if (isNative(compression, bytes, size)) return decompressOnLibuv(task, threads);
    const request: Request = { id: this.#nextId++, decompress: task };
    return this.#run(request, size, threads);
  }

  /** Tasks that are not done. */
  get pending(): number {
    return this.#waiting.length + this.#threads.reduce((sum, { tasks }) => sum + tasks.size, 0);
  }

  /** Takes the replies that have come. Whoever works on in microtasks for long would not see them otherwise. */
  poll(): boolean {
    let found = false;
    for (const thread of [...this.#threads]) {
      for (
        let reply = receiveMessageOnPort(thread.port);
        reply !== undefined;
        reply = receiveMessageOnPort(thread.port)
      ) {
        found = true;
        this.#receive(thread, reply.message as Reply);
      }
    }
    return found;
  }

  /** Does a task that no thread has yet, the oldest first. */
  help(): void {
    if (this.poll() || isNativeBusy()) return;
    const at = this.#waiting.findIndex(({ request, size }) => 'decompress' in request && size <= MOST_HELPED);
    const task = at < 0 ? undefined : this.#waiting.splice(at, 1)[0];
    if (task === undefined || !('decompress' in task.request)) return;
    decompressHere(task.request.decompress).then(task.resolve, task.reject);
    this.#assign();
  }

  compress(task: CompressTask, threads: number): Promise<Compressed> {
    if (compressesNatively(task.compression)) return compressOnLibuv(task, threads);
    const request: Request = { id: this.#nextId++, compress: task };
    return this.#run(request, task.bytes.length, threads) as Promise<Compressed>;
  }

  #run(request: Request, size: number, threads: number): Promise<Decompressed | Compressed> {
    this.#limit = Math.max(this.#limit, threads);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, size, resolve, reject });
      this.#assign();
    });
  }

  #assign(): void {
    clearTimeout(this.#idle);
    while (this.#waiting.length > 0) {
      const free = this.#free(1);
      if (free === undefined) this.#start(this.#waiting.length);
      const thread = free ?? this.#free(TASKS);
      const task = thread && this.#waiting.shift();
      if (thread === undefined || task === undefined) break;
      thread.tasks.set(task.request.id, task);
      if ('decompress' in task.request) postChunk(thread.port, task.request);
      else thread.port.postMessage(task.request, [task.request.compress.bytes.buffer as ArrayBuffer]);
    }
    // Only a thread that something waits for keeps the process alive.
    for (const thread of this.#threads) {
      thread.keepAlive(thread.tasks.size > 0 || (!thread.ready && this.#waiting.length > 0));
    }
    if (this.pending > 0) return;
    this.#idle = setTimeout(() => {
      for (const thread of this.#threads.splice(0)) this.#retire(thread);
    }, IDLE_MS).unref();
  }

  /** A thread with less than so many tasks. */
  #free(count: number): Thread | undefined {
    return this.#threads.find(({ tasks, ready }) => ready && tasks.size < count);
  }

  /** Starts a thread for `count` tasks that wait, if there may be one more and none is starting for them. */
  #start(count: number): void {
    const starting = this.#threads.filter(({ ready }) => !ready).length;
    if (this.#threads.length >= this.#limit || starting >= count) return;
    let thread: Thread;
    try {
      thread = new Thread();
    } catch (error) {
      // Not allowed here, as under --permission.
      this.#giveUp(new ThreadLost('no compression thread can be started', { cause: error }));
      return;
    }
    this.#threads.push(thread);
    thread.port.on('message', (reply: Reply) => {
      this.#receive(thread, reply);
    });
    thread.worker.on('error', (error) => {
      this.#lose(thread, new ThreadLost('the compression thread has failed', { cause: error }));
    });
    thread.worker.on('exit', () => {
      this.#lose(thread, new ThreadLost('the compression thread has ended'));
    });
  }

  /** Nobody is there for what waits. */
  #giveUp(error: ThreadLost): void {
    for (const task of this.#waiting.splice(0)) task.reject(error);
  }

  #receive(thread: Thread, reply: Reply): void {
    if (!('ready' in reply)) {
      this.#finish(thread, reply);
      return;
    }
    thread.ready = true;
    this.#assign();
  }

  #finish(thread: Thread, reply: Exclude<Reply, { ready: true }>): void {
    const task = thread.tasks.get(reply.id);
    if (task === undefined) return;
    thread.tasks.delete(reply.id);
    if (task.size > HUGE) this.#remove(thread);
    if (thread.tasks.size === 0) {
      thread.keepAlive(false);
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

  #lose(thread: Thread, error: ThreadLost): void {
    if (thread.retired) return;
    thread.retired = true;
    this.#remove(thread);
    for (const task of thread.tasks.values()) task.reject(error);
    thread.tasks.clear();
    // What cannot even start is not tried again for the same tasks.
    if (!thread.ready) this.#giveUp(error);
    this.#assign();
  }
}

/** Memory that is lent is handed over; of other memory, which may hold other records, a copy is. */
function postChunk(port: MessagePort, request: Request & { readonly decompress: DecompressTask }): void {
  const { bytes, lent } = request.decompress;
  const own = lent ? bytes : Uint8Array.prototype.slice.call(bytes);
  port.postMessage({ ...request, decompress: { ...request.decompress, bytes: own } }, [own.buffer as ArrayBuffer]);
}

async function decompressHere({ compression, bytes, size, withCrc }: DecompressTask): Promise<Decompressed> {
  const find = builtInDecompressors().find(compression);
  if (find === undefined) throw new Error(`no decompressor for ${compression}`);
  const whole = await find(asBuffer(bytes), size);
  return { bytes: whole, crc: withCrc ? crc32(whole) : undefined };
}

/** What is wrong with a chunk is said by the one decompressor that all of them have, however they are read. */
async function decompressOnLibuv(task: DecompressTask, threads: number): Promise<Decompressed> {
  try {
    const bytes = await decompressNatively(task.bytes, task.size, threads);
    if (bytes.length === task.size) return { bytes, crc: task.withCrc ? crc32(bytes) : undefined };
  } catch {
    // Said below.
  }
  return decompressHere(task);
}

async function compressOnLibuv({ bytes, level, withCrc }: CompressTask, threads: number): Promise<Compressed> {
  const packed = await compressNatively(bytes, level ?? DEFAULT_ZSTD_LEVEL, threads);
  const [crc, compressedCrc] = withCrc ? [crc32(bytes), crc32(packed)] : [0, 0];
  return { bytes: packed, crc, compressedCrc, lent: bytes };
}

const POOL = new Pool();

/** Does one of the decompressions that wait for a thread, if there is one: for whoever has nothing else to do. */
export function helpThreads(): void {
  POOL.help();
}

/** Whether one of up to `threads` threads has room for another task, those that wait counted. */
export function threadsHaveRoom(threads: number): boolean {
  POOL.poll();
  return POOL.pending < TASKS * threads;
}

/**
 * Decompresses a chunk on one of up to `threads` threads. Rejects with a plain Error where it does not decompress, with
 * ThreadLost where that was not tried; if its memory was lent and is lost with the thread, `bytes.length` is 0 then.
 */
export function decompressOnThread(task: DecompressTask, threads: number): Promise<Decompressed> {
  return POOL.decompress(task, threads);
}

/**
 * Compresses a chunk on one of up to `threads` threads. The whole memory of `bytes` is lent to it and comes back with the
 * result; it cannot be used in the meantime. Rejects with ThreadLost, where the memory may still be here: `bytes.length` is
 * not 0 then.
 */
export function compressOnThread(task: CompressTask, threads: number): Promise<Compressed> {
  return POOL.compress(task, threads);
}

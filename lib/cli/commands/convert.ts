/** `mcap-ros2 convert`: JSON to a recording, or a recording to one with other chunks, compression or order. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { MAGIC } from '../../mcap/opcodes.js';
import type { McapRecord } from '../../mcap/records.js';
import { loadDefinitions, standardDefinitions } from '../../streams/definition-files.js';
import type { Distribution } from '../../streams/definition-files.js';
import { encodeStream } from '../../streams/encode-stream.js';
import { jsonMessages } from '../../streams/json-messages.js';
import { compressionOf } from '../compression.js';
import type { CompressionOptions } from '../compression.js';
import { IdMapper } from '../id-mapper.js';
import { bytesOf, inputFiles } from '../input.js';
import type { Input } from '../input.js';
import { withOutput } from '../output-file.js';
import type { OutputOptions } from '../output-file.js';
import { EXIT, UsageError } from '../output.js';
import type { ExitCode } from '../output.js';
import { CONTENT, DamageLog, recordsFrom, writeRecords } from '../records.js';
import { mergeInputs } from './merge.js';

export interface ConvertOptions extends OutputOptions, CompressionOptions {
  readonly sort?: 'log-time' | undefined;
  /** Folders with message definitions, for lines of JSON without them. */
  readonly msgPath?: readonly string[] | undefined;
  readonly distro?: Distribution | undefined;
}

export async function convert(paths: readonly string[], options: ConvertOptions): Promise<ExitCode> {
  const inputs = await inputFiles(paths);
  if (options.sort !== undefined) return mergeInputs(inputs, options);
  const damage = new DamageLog();
  const { compression, compressionLevel, chunkSize } = options;
  return withOutput(options, inputs, 'binary', async (stream) => {
    const [first] = inputs;
    const opened = first && (await peeked(first, damage));
    if (opened?.isJson === true) {
      if (inputs.length > 1) throw new UsageError('JSON is converted one file at a time');
      await pipeline(
        opened.bytes,
        jsonMessages({ definitions: definitionsOf(options), batch: 256 }),
        encodeStream({ compression, compressionLevel, chunkSize }),
        stream,
      );
      return EXIT.whole;
    }
    const records = await compressionOf(rewritten(inputs, opened?.bytes, damage), options);
    await writeRecords(records.records, stream, records.writer);
    return damage.found ? EXIT.dataLoss : EXIT.whole;
  });
}

function definitionsOf({ msgPath, distro = 'jazzy' }: ConvertOptions) {
  const base = standardDefinitions(distro);
  return msgPath === undefined ? base : loadDefinitions([...msgPath], { base });
}

/** An input whose first bytes have been looked at. */
async function peeked(input: Input, damage: DamageLog): Promise<{ isJson: boolean; bytes: Readable }> {
  const source = bytesOf(input, { onBroken: damage.brokenInput(input.name) });
  const parts = source[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  const first = await parts.next();
  const head = first.done === true ? Buffer.alloc(0) : first.value;
  const isJson = head[0] !== MAGIC[0] && /^(?:\ufeff)?\s*[[{]/.test(head.subarray(0, 1024).toString());
  return { isJson, bytes: Readable.from(chained(head, parts), { objectMode: false }) };
}

async function* chained(head: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

/** Everything in the inputs, one behind the other. */
async function* rewritten(
  inputs: readonly Input[],
  first: Readable | undefined,
  damage: DamageLog,
): AsyncGenerator<McapRecord> {
  const mapper = new IdMapper();
  for (const [n, input] of inputs.entries()) {
    mapper.nextInput();
    let ended = false;
    const bytes = n === 0 && first !== undefined ? first : bytesOf(input, { onBroken: damage.brokenInput(input.name) });
    // The Chunk record tells the compression; it is not written.
    for await (const record of recordsFrom(bytes, input.name, damage, { include: [...CONTENT, 'Chunk'] })) {
      if (record.type === 'DataEnd') ended = true;
      else if (record.type === 'Header') {
        if (n === 0) yield record;
      } else if (record.type === 'Schema') {
        const { record: schema, added } = mapper.schema(record);
        if (added && record.id !== 0) yield schema;
      } else if (record.type === 'Channel') {
        const { record: channel, added } = mapper.channel(record);
        if (added) yield channel;
      } else if (record.type === 'Message') {
        yield { ...record, channelId: mapper.channelId(record.channelId) };
      } else if (!ended) yield record;
    }
  }
}

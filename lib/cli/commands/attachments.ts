/** `mcap-ros2 attachments` and `metadata`: what a recording holds beside its messages. */
import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { McapRecord } from '../../mcap/records.js';
import { readAttachment, readSummary } from '../../streams/read-summary.js';
import { formatTime } from '../../time.js';
import { compressionOf } from '../compression.js';
import { inputFiles, withPaths } from '../input.js';
import { withOutput } from '../output-file.js';
import type { OutputOptions } from '../output-file.js';
import { EXIT, StdoutWriter, UsageError } from '../output.js';
import type { ExitCode } from '../output.js';
import { DamageLog, recordsOf, writeRecords } from '../records.js';
import { formatBytes, table } from '../table.js';
import { TimeRange } from '../time-range.js';
import { Sieve } from './filter.js';

export async function listAttachments(path: string, { json }: { json?: boolean }): Promise<ExitCode> {
  const inputs = await inputFiles([path]);
  const out = new StdoutWriter();
  const found = { damaged: false };
  await withPaths(inputs, async (files) => {
    for (const file of files) {
      const { attachments, damage } = await readSummary(file);
      found.damaged ||= damage.length > 0;
      if (json === true) {
        for (const { name, mediaType, logTime, createTime, dataSize: bytes } of attachments) {
          const times = { logTime: String(logTime), createTime: String(createTime) };
          await out.write(`${JSON.stringify({ name, mediaType, bytes, ...times })}\n`);
        }
        continue;
      }
      const rows = attachments.map(({ name, mediaType, logTime, dataSize }) => [
        name,
        mediaType,
        formatBytes(dataSize),
        formatTime(logTime),
      ]);
      if (rows.length > 0) await out.write(`${table([['name', 'media type', 'bytes', 'log time'], ...rows])}\n`);
    }
  });
  await out.finish();
  return found.damaged ? EXIT.dataLoss : EXIT.whole;
}

export async function getAttachment(path: string, name: string, options: OutputOptions): Promise<ExitCode> {
  const inputs = await inputFiles([path]);
  return withPaths(inputs, async (files) => {
    for (const file of files) {
      const attachment = await readAttachment(file, name);
      if (attachment === undefined) continue;
      await withOutput(
        options,
        inputs,
        attachment.mediaType.startsWith('text/') ? 'text' : 'binary',
        async (stream) => {
          await new Promise<void>((resolve, reject) => {
            stream.write(attachment.data, (error) => {
              if (error) reject(error);
              else resolve();
            });
          });
        },
      );
      return EXIT.whole;
    }
    throw new Error(`${path} has no attachment ${JSON.stringify(name)}`);
  });
}

export interface AddAttachmentOptions extends OutputOptions {
  readonly name?: string | undefined;
  readonly mediaType?: string | undefined;
}

export async function addAttachment(path: string, file: string, options: AddAttachmentOptions): Promise<ExitCode> {
  const { mtimeNs } = await stat(file, { bigint: true });
  return addRecord(path, options, {
    type: 'Attachment',
    name: options.name ?? basename(file),
    mediaType: options.mediaType ?? 'application/octet-stream',
    logTime: mtimeNs,
    createTime: mtimeNs,
    data: await readFile(file),
  });
}

export async function listMetadata(path: string, { json }: { json?: boolean }): Promise<ExitCode> {
  const out = new StdoutWriter();
  const damage = new DamageLog();
  for (const input of await inputFiles([path])) {
    for await (const record of recordsOf(input, damage, { include: ['Metadata'] })) {
      if (record.type !== 'Metadata') continue;
      const { name, metadata } = record;
      if (json === true) await out.write(`${JSON.stringify({ name, metadata: Object.fromEntries(metadata) })}\n`);
      else
        await out.write(`${name}\n${[...metadata].map(([key, value]) => `  ${key}: ${indented(value)}\n`).join('')}`);
    }
  }
  await out.finish();
  return damage.found ? EXIT.dataLoss : EXIT.whole;
}

function indented(value: string): string {
  return value.trimEnd().replaceAll('\n', '\n    ');
}

export async function addMetadata(
  path: string,
  name: string,
  entries: readonly string[],
  options: OutputOptions,
): Promise<ExitCode> {
  const metadata = new Map(
    entries.map((entry): [string, string] => {
      const at = entry.indexOf('=');
      if (at < 1) throw new UsageError(`metadata is KEY=VALUE, not ${entry}`);
      return [entry.slice(0, at), entry.slice(at + 1)];
    }),
  );
  return addRecord(path, options, { type: 'Metadata', name, metadata });
}

/** The recording as it is, and one record more. */
async function addRecord(path: string, options: OutputOptions, record: McapRecord): Promise<ExitCode> {
  const inputs = await inputFiles([path]);
  const damage = new DamageLog();
  const sieve = new Sieve({}, await TimeRange.of({}, []), new Map(), damage);
  await withOutput(options, inputs, 'binary', async (stream) => {
    const { writer, records } = await compressionOf(sieve.records(inputs), {});
    await writeRecords(followed(records, record), stream, { ...writer, chunks: 'raw' });
  });
  return damage.found ? EXIT.dataLoss : EXIT.whole;
}

async function* followed(records: AsyncIterable<McapRecord>, last: McapRecord): AsyncGenerator<McapRecord> {
  yield* records;
  yield last;
}

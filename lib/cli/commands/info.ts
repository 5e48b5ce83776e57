/** `mcap-ros2 info`: what a recording holds. */
import { McapStreamsError } from '../../errors.js';
import type { McapRecord } from '../../mcap/records.js';
import { readMetadata, readSummary, RecordCounter } from '../../streams/read-summary.js';
import type { RecordingSummary } from '../../streams/read-summary.js';
import { describe, reportJson, reportText } from '../info-report.js';
import type { InfoReport } from '../info-report.js';
import { inputFiles } from '../input.js';
import type { Input } from '../input.js';
import { EXIT, StdoutWriter, warn } from '../output.js';
import type { ExitCode } from '../output.js';
import { DamageLog, recordsOf } from '../records.js';

export interface InfoOptions {
  readonly json?: boolean | undefined;
  /** Read everything although there is a summary. */
  readonly scan?: boolean | undefined;
}

/** A file up to this size is read as a whole, so that its damage is seen and bytes are counted by topic. */
const SMALL = 2 ** 21;

export async function info(paths: readonly string[], options: InfoOptions): Promise<ExitCode> {
  const out = new StdoutWriter();
  let damaged = false;
  for (const [n, input] of (await inputFiles(paths)).entries()) {
    try {
      const report = await survey(input, options.scan ?? false);
      damaged ||= report.damage.length > 0;
      for (const { message } of report.damage) warn(`${input.name}: ${message}`);
      await out.write(options.json === true ? reportJson(report) : `${n > 0 ? '\n' : ''}${reportText(report)}`);
    } catch (error) {
      if (!(error instanceof McapStreamsError)) throw error;
      await out.finish();
      throw error.with({}, `${input.name}: ${error.message}`);
    }
  }
  await out.finish();
  return damaged ? EXIT.dataLoss : EXIT.whole;
}

async function survey(input: Input, scan: boolean): Promise<InfoReport> {
  if (input.path === undefined) return scanned(input, undefined);
  const summary = await readSummary(input.path);
  if (scan || summary.scanned || summary.size <= SMALL) return scanned(input, summary);
  const bag = summary.metadata.some(({ name }) => name === 'rosbag2')
    ? (await readMetadata(input.path, 'rosbag2'))?.metadata
    : undefined;
  return describe({ name: input.name, summary, counted: 'summary', topicBytes: undefined, bag, damage: [] });
}

/** Reads everything: damage is found, bytes are counted by topic. */
async function scanned(input: Input, summary: RecordingSummary | undefined): Promise<InfoReport> {
  const counter = new RecordCounter();
  const damage = new DamageLog(false);
  const topicBytes = new Map<number, number>();
  let bag: ReadonlyMap<string, string> | undefined;
  let isData = true;
  let hasSummary = false;
  let size = 0;
  const records = recordsOf(input, damage, {
    include: [...RecordCounter.include, 'DataEnd', 'Footer', 'Statistics'],
    attachments: 'stream',
    onBytes: (count) => (size += count),
  });
  for await (const record of records) {
    if (record.type === 'DataEnd') isData = false;
    if (record.type === 'Statistics') hasSummary = true;
    if (record.type === 'Message') {
      topicBytes.set(record.channelId, (topicBytes.get(record.channelId) ?? 0) + record.data.length);
    }
    if (record.type === 'Metadata' && record.name === 'rosbag2') bag = record.metadata;
    if (isData || isDefinition(record)) counter.add(record);
  }
  const { header, statistics, schemas, channels, compression, attachments, metadata } = counter;
  const found = { header, statistics, schemas, channels, compression, attachments, metadata, size };
  return describe({
    name: input.name,
    summary: found,
    counted: (summary?.scanned ?? !hasSummary) ? 'scan: the summary is missing' : 'scan',
    topicBytes,
    bag,
    damage: [
      ...damage.reports.map(({ report: { code, offset, error } }) => ({ code, offset, message: error.message })),
      ...damage.brokenInputs.map((message) => ({ code: 'MCAP_DECOMPRESSION_FAILED', offset: 0, message })),
    ],
  });
}

function isDefinition({ type }: McapRecord): boolean {
  return type === 'Schema' || type === 'Channel';
}

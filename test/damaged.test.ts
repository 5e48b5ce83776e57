import { createReadStream } from 'node:fs';
import { decodeStream, McapRecordParser } from '../lib/index.js';
import type { DamageReport } from '../lib/index.js';
import { hasShared, readShared, sharedPath, sharedTest } from './helpers/shared.js';

/** What an independent reader found sound in a file. */
interface Expected {
  chunks: number;
  badChunks: number;
  footer: boolean;
  endMagic: boolean;
  attachments: number;
  messagesDeliverable: number;
  badChunkOffsets?: number[];
  cut?: { offset: number };
  messagesOnChannelsDefinedOnlyInABadChunk?: number;
  /** Of the sound chunks; those of a cut one are not listed. */
  messagesByTopic: Record<string, number>;
  messagesInCutUncompressedChunk: number;
}

const files = hasShared
  ? Object.entries(JSON.parse(readShared('damaged/EXPECTED.json').toString()) as Record<string, Expected | string>)
  : [];

sharedTest('there are 66 damaged files with what is sound in them', (t) => {
  t.is(files.filter(([, expected]) => typeof expected !== 'string').length, 66);
});

for (const [name, expected] of files) {
  if (typeof expected === 'string') continue;

  sharedTest(`of ${name} every sound message comes out, and the damage is told`, async (t) => {
    const reports: DamageReport[] = [];
    const parser = new McapRecordParser({ damage: 'skip', onDamage: (report) => reports.push(report) });
    createReadStream(sharedPath('damaged', name), { highWaterMark: 1000 }).pipe(parser);
    const counts = new Map<string, number>();
    const topics = new Map<number, string>();
    let attachments = 0;
    let footers = 0;
    for await (const record of parser) {
      if (record.type === 'Channel') topics.set(record.id, record.topic);
      if (record.type === 'Attachment') attachments++;
      if (record.type === 'Footer') footers++;
      if (record.type !== 'Message') continue;
      const topic = topics.get(record.channelId) ?? '';
      counts.set(topic, (counts.get(topic) ?? 0) + 1);
    }
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
    t.is(total, expected.messagesDeliverable);
    if (expected.messagesInCutUncompressedChunk === 0) {
      t.deepEqual(Object.fromEntries([...counts].filter(([, count]) => count > 0)), expected.messagesByTopic);
    }
    t.is(attachments, expected.attachments);
    t.is(footers, expected.footer ? 1 : 0);
    t.deepEqual(
      reports.filter(({ chunks }) => chunks > 0).map(({ offset }) => offset),
      expected.badChunkOffsets ?? [],
    );
    const lost = reports.find(({ code }) => code === 'MCAP_UNKNOWN_CHANNEL');
    const orphans = reports.filter(({ code }) => code === 'MCAP_UNKNOWN_CHANNEL');
    t.is(
      orphans.reduce((sum, { messages }) => sum + messages, 0),
      expected.messagesOnChannelsDefinedOnlyInABadChunk ?? 0,
    );
    t.is(lost !== undefined, expected.messagesOnChannelsDefinedOnlyInABadChunk !== undefined);
    t.is(
      reports.some(({ code }) => code === 'MCAP_TRUNCATED'),
      !expected.endMagic,
    );
    if (expected.badChunks === 0 && expected.endMagic) t.deepEqual(reports, []);
    t.deepEqual(parser.stats.damage, reports);
    const decoded = decodeStream(createReadStream(sharedPath('damaged', name)), { damage: 'skip' });
    let messages = 0;
    for await (const batch of decoded) messages += batch.topic === '' ? 0 : 1;
    t.is(messages, expected.messagesDeliverable);
  });
}

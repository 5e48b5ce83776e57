import type { McapRecord, McapRecordWriterOptions } from '../../lib/index.js';
import { readShared, sharedFiles, sharedTest } from '../helpers/shared.js';
import { writtenRecords } from '../helpers/written.js';

type Value = string | string[] | Record<string, string>;

interface Descriptor {
  records: { type: string; fields: [string, Value][] }[];
  meta: { variant: { features: string[] } };
}

/** Fields of record objects that are not bigint. */
const NUMBERS = new Set(['id', 'schemaId', 'channelId', 'sequence']);
const TEXTS = new Set(['name', 'encoding', 'topic', 'messageEncoding', 'mediaType', 'profile', 'library']);

function recordOf({ type, fields }: Descriptor['records'][number]): McapRecord {
  const record: Record<string, unknown> = { type };
  for (const [field, value] of fields) {
    const name = field.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    if (Array.isArray(value)) record[name] = Uint8Array.from(value, Number);
    else if (typeof value === 'object') record[name] = new Map(Object.entries(value));
    else record[name] = TEXTS.has(name) ? value : NUMBERS.has(name) ? Number(value) : BigInt(value);
  }
  return record as unknown as McapRecord;
}

function optionsOf(features: readonly string[]): McapRecordWriterOptions {
  const has = (feature: string): boolean => features.includes(feature);
  return {
    compression: 'none',
    useChunks: has('ch'),
    useChunkIndex: has('chx'),
    useMessageIndex: has('mx'),
    useStatistics: has('st'),
    useSummaryOffsets: has('sum'),
    repeatSchemas: has('rsh'),
    repeatChannels: has('rch'),
    useAttachmentIndex: has('ax'),
    useMetadataIndex: has('mdx'),
    padRecords: has('pad') ? Uint8Array.of(1, 0xff, 0xff) : undefined,
  };
}

const names = sharedFiles('conformance', '.json');

sharedTest('writing the records of each of the 416 conformance files gives that file byte for byte', async (t) => {
  t.is(names.length, 416);
  for (const name of names) {
    const { records, meta } = JSON.parse(readShared('conformance', name).toString()) as Descriptor;
    const bytes = await writtenRecords(records.map(recordOf), optionsOf(meta.variant.features));
    t.is(bytes.toString('hex'), readShared('conformance', name.replace(/json$/, 'mcap')).toString('hex'), name);
  }
});

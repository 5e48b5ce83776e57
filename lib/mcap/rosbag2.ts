/** rosbag2's own ways around MCAP: bag folders with their metadata.yaml, compression modes, QoS profiles. */
import type * as Yaml from 'yaml';
import { McapStreamsError } from '../errors.js';
import { lazily } from './lazy.js';
import type { ChannelRecord } from './records.js';

const yaml = lazily('yaml') as () => typeof Yaml;

/** What metadata.yaml, or the metadata record `rosbag2`, says of a bag. */
export interface BagMetadata {
  readonly version: number;
  readonly storageIdentifier: string;
  /** Paths of the files, relative to the folder, in order. */
  readonly relativeFilePaths: readonly string[];
  readonly messageCount: number;
  readonly compressionFormat: string;
  /** `FILE`: each file is compressed as a whole; `MESSAGE`: each payload is; empty: neither. */
  readonly compressionMode: string;
}

/** Reads the text of a metadata.yaml. Throws `MCAP_BAD_BAG`. */
export function parseBagMetadata(text: string): BagMetadata {
  let info: unknown;
  try {
    const parsed: unknown = yaml().parse(text);
    info = (parsed as Record<string, unknown> | null)?.['rosbag2_bagfile_information'] ?? parsed;
  } catch (error) {
    throw new McapStreamsError('MCAP_BAD_BAG', 'metadata.yaml is no YAML', { cause: error });
  }
  if (typeof info !== 'object' || info === null) {
    throw new McapStreamsError('MCAP_BAD_BAG', 'metadata.yaml has no rosbag2_bagfile_information');
  }
  const fields = new Map(Object.entries(info));
  const paths: unknown = fields.get('relative_file_paths');
  return {
    version: Number(fields.get('version') ?? 0),
    storageIdentifier: asText(fields.get('storage_identifier')),
    relativeFilePaths: Array.isArray(paths) ? paths.map(asText) : [],
    messageCount: Number(fields.get('message_count') ?? 0),
    compressionFormat: asText(fields.get('compression_format')),
    compressionMode: asText(fields.get('compression_mode')).toUpperCase(),
  };
}

function asText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** A point in a QoS profile's time spans. */
export interface QosDuration {
  readonly sec: number;
  readonly nsec: number;
}

/** One profile that a publisher offered; names as rosbag2 writes them, values as they are (older bags have numbers). */
export interface QosProfile {
  readonly history?: string | number;
  readonly depth?: number;
  readonly reliability?: string | number;
  readonly durability?: string | number;
  readonly deadline?: QosDuration;
  readonly lifespan?: QosDuration;
  readonly liveliness?: string | number;
  readonly liveliness_lease_duration?: QosDuration;
  readonly avoid_ros_namespace_conventions?: boolean;
}

/** The profiles of a channel's metadata `offered_qos_profiles`; none where it is missing or no YAML list. */
export function offeredQosProfiles(channel: ChannelRecord): QosProfile[] {
  const text = channel.metadata.get('offered_qos_profiles');
  if (text === undefined || text.trim() === '') return [];
  try {
    const profiles: unknown = yaml().parse(text);
    return Array.isArray(profiles) ? profiles.filter(isProfile) : [];
  } catch {
    return [];
  }
}

function isProfile(value: unknown): value is QosProfile {
  return typeof value === 'object' && value !== null;
}

/** Whether late subscribers get a channel's earlier messages, as of /tf_static. */
export function isTransientLocal(channel: ChannelRecord): boolean {
  // 1 is RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL.
  return offeredQosProfiles(channel).some(({ durability }) => durability === 'transient_local' || durability === 1);
}

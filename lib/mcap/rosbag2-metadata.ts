/**
 * The metadata.yaml of a rosbag2 folder, as `ros2 bag` writes and reads it, versions 5 to 9.
 *
 * What the versions differ in: 6 adds `custom_data`, 7 the type hashes, 8 `ros_distro`; up to 8 the QoS profiles are a text in
 * the text, with numbers for the policies, in 9 a list with names.
 */

export type BagMetadataVersion = 5 | 6 | 7 | 8 | 9;

export const BAG_METADATA_VERSIONS: readonly BagMetadataVersion[] = [5, 6, 7, 8, 9];

/** Times and number of messages, of a file or of all. Without messages there is no time. */
export interface BagTimes {
  /** ns. */
  readonly start: bigint;
  readonly end: bigint;
  readonly messageCount: number;
}

export interface BagFile extends BagTimes {
  /** Relative to the folder. */
  readonly path: string;
}

export interface BagTopic {
  readonly name: string;
  readonly type: string;
  readonly serializationFormat: string;
  /** As the channel's metadata has it: a YAML list. */
  readonly offeredQosProfiles: string;
  /** `RIHS01_...`, or empty where it is not known. */
  readonly typeHash: string;
  readonly messageCount: number;
}

export interface BagMetadata {
  readonly files: readonly BagFile[];
  readonly topics: readonly BagTopic[];
  readonly rosDistro: string;
  readonly customData: Readonly<Record<string, string>>;
}

/** What rosbag2 says where there are no messages: the largest time. */
const NO_TIME = 2n ** 63n - 1n;

/** The text of metadata.yaml. */
export function bagMetadataText(version: BagMetadataVersion, metadata: BagMetadata): string {
  const { files, topics, rosDistro, customData } = metadata;
  const paths = ['relative_file_paths:', ...files.map(({ path }) => `  - ${scalar(path)}`)];
  const custom = Object.entries(customData);
  const lines = [
    `version: ${version}`,
    'storage_identifier: mcap',
    ...(version === 5 ? paths : []),
    ...timeLines(total(files)),
    'topics_with_message_count:',
    ...(topics.length === 0 ? ['  []'] : topics.flatMap((topic) => topicLines(version, topic))),
    'compression_format: ""',
    'compression_mode: ""',
    ...(version === 5 ? [] : paths),
    'files:',
    ...files.flatMap(fileLines),
  ];
  if (version >= 6) {
    lines.push(custom.length === 0 ? 'custom_data: ~' : 'custom_data:');
    for (const [key, value] of custom) lines.push(`  ${scalar(key)}: ${quoted(value)}`);
  }
  if (version >= 8) lines.push(`ros_distro: ${rosDistro === '' ? '""' : scalar(rosDistro)}`);
  return `rosbag2_bagfile_information:\n${lines.map((line) => `  ${line}\n`).join('')}`;
}

function total(files: readonly BagFile[]): BagTimes {
  const used = files.filter(({ messageCount }) => messageCount > 0);
  const starts = used.map(({ start }) => start);
  const ends = used.map(({ end }) => end);
  return {
    start: starts.reduce((a, b) => (a < b ? a : b), starts[0] ?? 0n),
    end: ends.reduce((a, b) => (a > b ? a : b), ends[0] ?? 0n),
    messageCount: used.reduce((sum, { messageCount }) => sum + messageCount, 0),
  };
}

function timeLines({ start, end, messageCount }: BagTimes): string[] {
  const isEmpty = messageCount === 0;
  return [
    'duration:',
    `  nanoseconds: ${isEmpty ? 0n : end - start}`,
    'starting_time:',
    `  nanoseconds_since_epoch: ${isEmpty ? NO_TIME : start}`,
    `message_count: ${messageCount}`,
  ];
}

function fileLines(file: BagFile): string[] {
  const [duration = '', durationValue = '', start = '', startValue = '', count = ''] = timeLines(file);
  return [
    `  - path: ${scalar(file.path)}`,
    `    ${start}`,
    `    ${startValue}`,
    `    ${duration}`,
    `    ${durationValue}`,
    `    ${count}`,
  ];
}

function topicLines(version: BagMetadataVersion, topic: BagTopic): string[] {
  const lines = [
    '  - topic_metadata:',
    `      name: ${scalar(topic.name)}`,
    `      type: ${scalar(topic.type)}`,
    `      serialization_format: ${scalar(topic.serializationFormat)}`,
    ...qosLines(version, topic.offeredQosProfiles),
  ];
  if (version >= 7) lines.push(`      type_description_hash: ${topic.typeHash === '' ? '""' : scalar(topic.typeHash)}`);
  lines.push(`    message_count: ${topic.messageCount}`);
  return lines;
}

function qosLines(version: BagMetadataVersion, profiles: string): string[] {
  const key = '      offered_qos_profiles:';
  if (version < 9) return [`${key} ${quoted(withPolicies(profiles, 'numbers'))}`];
  const lines = withPolicies(profiles, 'names')
    .split('\n')
    .filter((line) => line.trim() !== '');
  // Another form than a block list would not be at home here.
  if (!lines.every((line) => /^(- | {2})/.test(line)) || lines.length === 0) return [`${key} []`];
  return [key, ...lines.map((line) => `        ${line}`)];
}

/** Policies of rmw (rmw/types.h), by their numbers. */
const POLICIES: Readonly<Record<string, readonly string[]>> = {
  history: ['system_default', 'keep_last', 'keep_all', 'unknown'],
  reliability: ['system_default', 'reliable', 'best_effort', 'unknown', 'best_available'],
  durability: ['system_default', 'transient_local', 'volatile', 'unknown', 'best_available'],
  liveliness: ['system_default', 'automatic', 'manual_by_node', 'manual_by_topic', 'unknown', 'best_available'],
};

/** QoS profiles with the policies in the wanted form. */
function withPolicies(profiles: string, form: 'numbers' | 'names'): string {
  return profiles.replace(/^([- ] )(\w+): *(\w+)$/gm, (line, lead: string, name: string, value: string) => {
    const names = POLICIES[name];
    if (names === undefined) return line;
    const number = names.indexOf(value);
    const written = form === 'names' ? (names[Number(value)] ?? value) : number >= 0 ? String(number) : value;
    return `${lead}${name}: ${written}`;
  });
}

/** A plain scalar where YAML takes it as the string that it is. */
function scalar(text: string): string {
  const isPlain = /^[A-Za-z_/][\w/.:-]*$/.test(text) && !text.endsWith(':');
  return isPlain && !/^(true|false|yes|no|on|off|null|nan|inf)$/i.test(text) ? text : quoted(text);
}

/** JSON's strings are YAML's. */
function quoted(text: string): string {
  return JSON.stringify(text);
}

/** Interface packages on disk, and those that every ROS 2 distribution has. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, parse, resolve } from 'node:path';
import { OptionError } from '../errors.js';
import { checkOptions } from '../options.js';
import { DefinitionSet } from '../schema/definition-set.js';
import type { InterfaceFile } from '../schema/definition-set.js';

export interface LoadDefinitionsOptions {
  /** Where types are taken from that the folders need and do not hold, such as `standardDefinitions('jazzy')`. */
  readonly base?: DefinitionSet | undefined;
}

/** A distribution whose common interfaces are at hand. */
export type Distribution = 'galactic' | 'humble' | 'iron' | 'jazzy' | 'kilted' | 'rolling';

/** The package of definitions has no later distribution than jazzy; what came after only added types to these packages. */
const FOLDERS: Readonly<Record<Distribution, string>> = {
  galactic: 'ros2galactic',
  humble: 'ros2humble',
  iron: 'ros2iron',
  jazzy: 'ros2jazzy',
  kilted: 'ros2jazzy',
  rolling: 'ros2jazzy',
};

const KINDS = ['msg', 'srv', 'action', 'idl'] as const;
const FOLDER_NAMES: readonly string[] = ['msg', 'srv', 'action'];
const SKIPPED: readonly string[] = ['node_modules', '.git'];

/**
 * The interface files below folders: `<pkg>/msg/*.msg`, `srv`, `action` and `.idl`, in an install or a source tree (the
 * package's name is that of its `package.xml` where there is one). A path may also be a single file. Texts are read when
 * they are asked for.
 *
 *     const definitions = loadDefinitions('/opt/ros/jazzy/share');
 *     compileCodec(definitions.get('sensor_msgs/msg/Imu'));
 *
 * @throws what node:fs throws for a path that cannot be read
 */
export function loadDefinitions(
  paths: string | readonly string[],
  options: LoadDefinitionsOptions = {},
): DefinitionSet {
  checkOptions(options, ['base'], 'loadDefinitions');
  const files: InterfaceFile[] = [];
  const packages = new Map<string, string>();
  for (const path of typeof paths === 'string' ? [paths] : paths) {
    const top = resolve(path);
    if (statSync(top).isDirectory()) walk(top, files, packages);
    else add(top, files, packages);
  }
  return new DefinitionSet(files, options.base);
}

const standard = new Map<string, DefinitionSet>();

/**
 * The common interface packages of a distribution (std_msgs, sensor_msgs, geometry_msgs, nav_msgs, tf2_msgs and so on),
 * without a folder: from @foxglove/rosmsg-msgs-common, whose files are read when a type is asked for. `kilted` and
 * `rolling` have the texts of jazzy.
 */
export function standardDefinitions(distribution: Distribution): DefinitionSet {
  if (!Object.hasOwn(FOLDERS, distribution)) {
    const known = Object.keys(FOLDERS).join(', ');
    throw new OptionError('OPTION_INVALID', `standardDefinitions takes ${known}, not ${JSON.stringify(distribution)}`);
  }
  const folder = FOLDERS[distribution];
  let definitions = standard.get(folder);
  if (definitions === undefined) {
    const manifest = createRequire(import.meta.url).resolve('@foxglove/rosmsg-msgs-common/package.json');
    definitions = loadDefinitions(join(dirname(manifest), 'msgdefs', folder));
    standard.set(folder, definitions);
  }
  return definitions;
}

function walk(folder: string, files: InterfaceFile[], packages: Map<string, string>): void {
  const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const path = join(folder, entry.name);
    // A link to a folder may lead back to above it; colcon's --symlink-install links files only.
    if (entry.isDirectory()) {
      if (!SKIPPED.includes(entry.name)) walk(path, files, packages);
    } else add(path, files, packages);
  }
}

function add(path: string, files: InterfaceFile[], packages: Map<string, string>): void {
  const { name: type, ext } = parse(path);
  const kind = KINDS.find((known) => ext === `.${known}`);
  if (kind === undefined || !/^[A-Za-z]\w*$/.test(type)) return;
  // The nearest folder called msg, srv or action; packages sort messages into folders below it, too.
  let folder = dirname(path);
  while (!FOLDER_NAMES.includes(parse(folder).base)) {
    const above = dirname(folder);
    if (above === folder) return;
    folder = above;
  }
  const home = packageName(dirname(folder), packages);
  const middle = kind === 'idl' ? parse(folder).base : kind;
  files.push({
    name: `${home}/${middle}/${type}`,
    kind,
    text: () => readFileSync(path, 'utf8').replace(/^\ufeff/, ''),
  });
}

function packageName(folder: string, packages: Map<string, string>): string {
  let name = packages.get(folder);
  if (name === undefined) {
    name = manifestName(folder) ?? parse(folder).base;
    packages.set(folder, name);
  }
  return name;
}

function manifestName(folder: string): string | undefined {
  try {
    return /<name>\s*([A-Za-z]\w*)\s*<\/name>/.exec(readFileSync(join(folder, 'package.xml'), 'utf8'))?.[1];
  } catch {
    return undefined;
  }
}

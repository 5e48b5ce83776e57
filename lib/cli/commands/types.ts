/** `mcap-ros2 types`: the types of a recording as TypeScript or .msg text. */
import { McapStreamsError } from '../../errors.js';
import type { FieldType, MessageDefinition } from '../../schema/definition.js';
import { definitionToRos2Msg } from '../../schema/print.js';
import { parseSchema } from '../../schema/registry.js';
import { definitionToTypeScript } from '../../schema/typescript.js';
import { readSummary } from '../../streams/read-summary.js';
import { inputFiles, withPaths } from '../input.js';
import { withOutput } from '../output-file.js';
import type { OutputOptions } from '../output-file.js';
import { EXIT, warn } from '../output.js';
import type { ExitCode } from '../output.js';
import { topicFilter } from '../topics.js';
import type { TopicOptions } from '../topics.js';

export interface TypesOptions extends OutputOptions, TopicOptions {
  readonly format?: 'typescript' | 'msg' | undefined;
}

export async function types(paths: readonly string[], options: TypesOptions): Promise<ExitCode> {
  const inputs = await inputFiles(paths);
  const takes = topicFilter(options);
  const definitions = new Map<string, MessageDefinition>();
  const found = { damaged: false };
  await withPaths(inputs, async (files) => {
    for (const file of files) {
      const { topics, damage } = await readSummary(file);
      found.damaged ||= damage.length > 0;
      for (const { error } of damage) warn(error.message);
      for (const { topic, schema } of topics) {
        if (schema === undefined || takes?.(topic) === false) continue;
        try {
          const definition = parseSchema(schema);
          definitions.set(definition.name, definition);
        } catch (error) {
          if (!(error instanceof McapStreamsError)) throw error;
          warn(`topic ${topic}: ${error.message}`);
        }
      }
    }
  });
  const all = [...definitions.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const text = options.format === 'msg' ? msgText(all) : typeScriptText(all);
  await withOutput(options, inputs, 'text', async (stream) => {
    await new Promise<void>((resolve, reject) => {
      stream.write(text, (error) => {
        if (error) reject(error);
        else resolve();
      });
    });
  });
  return found.damaged ? EXIT.dataLoss : EXIT.whole;
}

function msgText(definitions: readonly MessageDefinition[]): string {
  return definitions
    .map((definition) => {
      const head = definitions.length > 1 ? `# ${definition.name}\n` : '';
      return `${head}${definitionToRos2Msg(definition).trimEnd()}\n`;
    })
    .join('\n');
}

/** One module: a type that several need stands once. */
function typeScriptText(definitions: readonly MessageDefinition[]): string {
  const seen = new Set<string>();
  const blocks: string[] = [];
  for (const definition of definitions) {
    if (seen.has(definition.name)) continue;
    for (const block of definitionToTypeScript(definition).split(/\n(?=\/\*\*|export )/)) {
      const text = block.trimEnd();
      if (text === '' || seen.has(text)) continue;
      seen.add(text);
      blocks.push(text);
    }
    for (const name of namesIn(definition)) seen.add(name);
  }
  return blocks.length === 0 ? '' : `${blocks.join('\n')}\n`;
}

/** Names of a type and of those that it needs. */
function namesIn(definition: MessageDefinition): string[] {
  return [definition.name, ...definition.fields.flatMap(({ type }) => namesInType(type))];
}

function namesInType(type: FieldType): string[] {
  if (type.kind === 'message') return namesIn(type.definition);
  return type.kind === 'array' || type.kind === 'sequence' ? namesInType(type.element) : [];
}

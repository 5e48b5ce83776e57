/** The order of records that the specification demands: a Header, the data section, DataEnd, the summary section, a Footer. */
import type { McapErrorCode } from '../errors.js';
import { describeOpcode, OPCODE } from './opcodes.js';

export type RecordSection = 'header' | 'data' | 'summary';

/** Records that belong before DataEnd. */
const DATA_ONLY = new Set<number>([
  OPCODE.Message,
  OPCODE.Chunk,
  OPCODE.MessageIndex,
  OPCODE.Attachment,
  OPCODE.Metadata,
  OPCODE.DataEnd,
]);

/** What is wrong with a record of this opcode in that section. */
export function orderError(section: RecordSection, opcode: number): { code: McapErrorCode; what: string } | undefined {
  if (section === 'header') {
    if (opcode === OPCODE.Header) return undefined;
    return { code: 'MCAP_MISSING_HEADER', what: `the first record is ${describeOpcode(opcode)}, not a Header` };
  }
  if (opcode === OPCODE.Header) return { code: 'MCAP_UNEXPECTED_RECORD', what: 'a second Header' };
  if (section === 'data' && opcode === OPCODE.Footer) {
    return { code: 'MCAP_MISSING_DATA_END', what: 'the Footer follows the data section without a DataEnd' };
  }
  if (section === 'summary' && DATA_ONLY.has(opcode)) {
    return { code: 'MCAP_UNEXPECTED_RECORD', what: `a ${describeOpcode(opcode)} record stands after DataEnd` };
  }
  return undefined;
}

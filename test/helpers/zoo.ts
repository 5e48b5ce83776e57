/** The commands that are run over every recording, and the exit code that each has on each kind of recording. */
export const KINDS = ['whole', 'index missing', 'cut', 'cut behind the data', 'CRC wrong', 'not an MCAP'] as const;
export type Kind = (typeof KINDS)[number];

export const VERBS: Readonly<Record<string, (input: string, output: string) => string[]>> = {
  info: (input) => ['info', input],
  cat: (input, output) => ['cat', input, '-o', output],
  filter: (input, output) => ['filter', input, '-o', output],
  convert: (input, output) => ['convert', input, '-o', output],
  'convert sorted': (input, output) => ['convert', input, '-o', output, '--sort', 'log-time'],
  merge: (input, output) => ['merge', input, input, '-o', output],
  recover: (input, output) => ['recover', input, '-o', output],
  doctor: (input) => ['doctor', input],
  types: (input, output) => ['types', input, '-o', output],
  'attachments list': (input) => ['attachments', 'list', input],
  'metadata list': (input) => ['metadata', 'list', input],
  'metadata add': (input, output) => ['metadata', 'add', input, 'name', 'key=value', '-o', output],
};

/** A summary that is there answers without the chunk whose CRC is wrong: 0 then, 3 where everything has to be read. */
const BY_SUMMARY = [0, 3];

function row(
  whole: number,
  missing: number,
  cut: number,
  crc: number | readonly number[],
  other: number,
  cutBehind = cut,
): Record<Kind, readonly number[]> {
  return {
    whole: [whole],
    'index missing': [missing],
    cut: [cut],
    'cut behind the data': [cutBehind],
    'CRC wrong': typeof crc === 'number' ? [crc] : crc,
    'not an MCAP': [other],
  };
}

export const EXIT_CODES: Readonly<Record<string, Readonly<Record<Kind, readonly number[]>>>> = {
  info: row(0, 0, 3, 3, 1),
  cat: row(0, 0, 3, 3, 1),
  filter: row(0, 0, 3, 3, 1),
  convert: row(0, 0, 3, 3, 1),
  'convert sorted': row(0, 0, 3, 3, 1),
  merge: row(0, 0, 3, 3, 1),
  recover: row(0, 0, 3, 3, 1, 0),
  doctor: row(0, 0, 1, 1, 1),
  types: row(0, 0, 3, BY_SUMMARY, 1),
  'attachments list': row(0, 0, 3, BY_SUMMARY, 1),
  'metadata list': row(0, 0, 3, 3, 1),
  'metadata add': row(0, 0, 3, 3, 1),
};

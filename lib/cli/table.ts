/** Columns of text, padded to one width each; numbers to the right. */
export function table(rows: readonly (readonly (string | number | bigint)[])[]): string {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, n) => (widths[n] = Math.max(widths[n] ?? 0, String(cell).length)));
  return rows
    .map((row) =>
      row
        .map((cell, n) => {
          const text = String(cell);
          const width = widths[n] ?? 0;
          if (typeof cell !== 'string') return text.padStart(width);
          return n === row.length - 1 ? text : text.padEnd(width);
        })
        .join('  '),
    )
    .join('\n');
}

/** `1.5 MiB`. */
export function formatBytes(bytes: bigint | number): string {
  let value = Number(bytes);
  if (value < 1024) return `${value} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let unit = '';
  for (const next of units) {
    unit = next;
    value /= 1024;
    if (value < 1024) break;
  }
  return `${value.toFixed(1)} ${unit}`;
}

/** Columns padded to their widest cell and three spaces between them, as kubectl prints them; each line ends with a newline. */
export function formatTable(header: string[], rows: string[][]): string {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return all
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd((widths[column] ?? 0) + 3))
          .join('')
          .trimEnd()}\n`,
    )
    .join('');
}

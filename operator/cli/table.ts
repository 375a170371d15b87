/**
 * Columns padded to their widest cell and three spaces between them, as kubectl prints them; each line ends with a newline.
 * @param style colours a cell after it was padded: escape sequences have no width
 */
export function formatTable(
  header: string[],
  rows: string[][],
  style: (cell: string, column: number, row: number) => string = plain,
): string {
  const widths = header.map((_, column) => Math.max(...[header, ...rows].map((row) => (row[column] ?? '').length)));
  const line = (row: string[], at: number): string => {
    const last = row.findLastIndex((cell) => cell !== '');
    const cells = row.slice(0, last + 1).map((cell, column) => {
      const gap = column === last ? '' : ' '.repeat((widths[column] ?? 0) + 3 - cell.length);
      return `${at < 0 ? cell : style(cell, column, at)}${gap}`;
    });
    return `${cells.join('')}\n`;
  };
  return line(header, -1) + rows.map(line).join('');
}

function plain(cell: string): string {
  return cell;
}

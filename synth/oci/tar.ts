const BLOCK = 512;

/** A file in an archive. */
export interface TarEntry {
  path: string;
  content: Buffer;
}

/**
 * A tar archive (ustar) of the given files in their order: no times, owners or anything else that differs from one machine to the next.
 * @throws RangeError for a path that the format has no room for
 */
export function tarOf(entries: readonly TarEntry[]): Buffer {
  const blocks = entries.flatMap(({ path, content }) => [
    headerOf(path, content.length),
    content,
    Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK),
  ]);
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]);
}

function headerOf(path: string, size: number): Buffer {
  const header = Buffer.alloc(BLOCK);
  const { name, prefix } = splitPath(path);
  const fields: [offset: number, text: string][] = [
    [0, name],
    [100, octal(0o644, 7)],
    [108, octal(0, 7)],
    [116, octal(0, 7)],
    [124, octal(size, 11)],
    [136, octal(0, 11)],
    // The sum is made as if its own field were spaces.
    [148, ' '.repeat(8)],
    [156, '0'],
    [257, 'ustar\0' + '00'],
    [345, prefix],
  ];
  for (const [offset, text] of fields) header.write(text, offset, 'utf8');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)}\0 `, 148, 'utf8');
  return header;
}

/** A name has 100 bytes, and the folders before it 155. */
function splitPath(path: string): { name: string; prefix: string } {
  if (Buffer.byteLength(path) <= 100) return { name: path, prefix: '' };
  const at = [...path].findIndex((letter, index) => letter === '/' && Buffer.byteLength(path.slice(index + 1)) <= 100);
  const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
  if (at === -1 || Buffer.byteLength(prefix) > 155) throw new RangeError(`${path} is too long for a tar archive`);
  return { name, prefix };
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}

export interface TarFile {
  /** Relative, at most 100 bytes. */
  path: string;
  content: string;
}

const BLOCK = 512;

/** A POSIX tar archive (ustar) of text files. Pure. @param modifiedAt seconds since 1970 */
export function tarOf(files: readonly TarFile[], modifiedAt: number): Buffer {
  const parts = files.flatMap(({ path, content }) => {
    const body = Buffer.from(content);
    const padding = Buffer.alloc((BLOCK - (body.length % BLOCK)) % BLOCK);
    return [header(path, body.length, modifiedAt), body, padding];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]); // two empty blocks end it
}

/** Name, mode, owner, group, size, time, checksum, type; numbers are octal text. */
function header(path: string, size: number, modifiedAt: number): Buffer {
  const block = Buffer.alloc(BLOCK);
  block.write(path, 0, 100);
  block.write('0000600\0', 100);
  block.write('0000000\0', 108);
  block.write('0000000\0', 116);
  block.write(`${octal(size)}\0`, 124);
  block.write(`${octal(modifiedAt)}\0`, 136);
  block.write('        ', 148); // the checksum counts as spaces while it is computed
  block.write('0', 156);
  block.write('ustar\u000000', 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

function octal(value: number): string {
  return Math.floor(value).toString(8).padStart(11, '0');
}

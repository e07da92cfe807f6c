// Files as a tar stream: plain ustar, with a pax header where a name is too long or a file too large for it, so
// that every tar can read it.
const BLOCK = 512;
const LONGEST_NAME = 100;
const LARGEST = 0o77777777777;

export type TarFile = { path: string; size: number; mode: number; seconds: number };

/** What stands before the bytes of a file. */
export function tarHeader(file: TarFile): Buffer {
  const records = [
    ...(Buffer.byteLength(file.path) > LONGEST_NAME ? [paxRecord('path', file.path)] : []),
    ...(file.size > LARGEST ? [paxRecord('size', String(file.size))] : []),
  ];
  if (records.length === 0) return header(file, '0');
  const body = Buffer.concat(records);
  const before = header({ path: 'pax-header', size: body.length, mode: 0o600, seconds: file.seconds }, 'x');
  const short = { ...file, path: 'long-name', size: Math.min(file.size, LARGEST) };
  return Buffer.concat([before, body, tarPadding(body.length), header(short, '0')]);
}

/** What stands behind them. */
export function tarPadding(size: number): Buffer {
  return Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
}

export const tarEnd = Buffer.alloc(2 * BLOCK);

/** `12 path=name\n`: its own length counts. */
function paxRecord(key: string, value: string): Buffer {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest + String(rest).length;
  if (String(length).length > String(rest).length) length = rest + String(length).length;
  return Buffer.from(`${length} ${key}=${value}\n`);
}

function header({ path, size, mode, seconds }: TarFile, type: '0' | 'x'): Buffer {
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, digits: number, at: number): void => {
    block.write(`${value.toString(8).padStart(digits, '0')}\0`, at, 'latin1');
  };
  block.write(path, 0);
  octal(mode, 7, 100);
  octal(0, 7, 108);
  octal(0, 7, 116);
  octal(size, 11, 124);
  octal(seconds, 11, 136);
  block.write(' '.repeat(8), 148, 'latin1');
  block.write(type, 156, 'latin1');
  block.write('ustar\x0000', 257, 'latin1');
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

// Lines from pieces of a file that is being written.
const NEWLINE = 0x0a;
const HEAD_BYTES = 4 * 1024;

/** Only the start of a line that is longer than the limit is passed on. */
export type ReadLine = { isWhole: boolean; size: number; end: number };

export type LineReader = {
  /** Passes on the whole lines, each with its size and where it ends in this piece. */
  add: (bytes: Buffer, onLine: (line: string, read: ReadLine) => void) => void;
};

export function createLineReader(longest: number): LineReader {
  let parts: Buffer[] = [];
  let size = 0;
  /** Copied: the caller uses the same memory for the next piece. */
  function keep(piece: Buffer): void {
    size += piece.length;
    if (size <= longest) parts.push(Buffer.from(piece));
    else if (parts.length > 0 || size === piece.length)
      parts = [Buffer.concat([...parts, piece.subarray(0, HEAD_BYTES)]).subarray(0, HEAD_BYTES)];
  }
  return {
    add(bytes, onLine) {
      let from = 0;
      for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, from)) {
        keep(bytes.subarray(from, at));
        onLine(Buffer.concat(parts).toString('utf8'), { isWhole: size <= longest, size, end: at + 1 });
        parts = [];
        size = 0;
        from = at + 1;
      }
      if (from < bytes.length) keep(bytes.subarray(from));
    },
  };
}

// Lines out of pieces of a file that is being written.
const NEWLINE = 0x0a;

export type LineReader = {
  /**
   * Hands over the whole lines, each with where it ends in this piece; returns how many were left out because they were
   * longer than the limit.
   */
  add: (bytes: Buffer, hand: (line: string, end: number) => void) => number;
};

export function createLineReader(longest: number): LineReader {
  let parts: Buffer[] = [];
  let length = 0;
  return {
    add(bytes, hand) {
      let passed = 0;
      let from = 0;
      for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, from)) {
        length += end - from;
        if (length > longest) passed += 1;
        else hand(Buffer.concat([...parts, bytes.subarray(from, end)]).toString('utf8'), end + 1);
        parts = [];
        length = 0;
        from = end + 1;
      }
      length += bytes.length - from;
      if (length > longest) parts = [];
      // A copy: the reader uses the same memory for the next piece.
      else if (from < bytes.length) parts.push(Buffer.from(bytes.subarray(from)));
      return passed;
    },
  };
}

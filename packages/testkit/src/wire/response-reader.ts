// Reads answers from the bytes of a connection: the status line, the length and the body, nothing else,
// so that a load generator spends its time on sending.

export type RawResponse = { status: number; body: Buffer; closes: boolean };

const END_OF_HEAD = Buffer.from('\r\n\r\n');
const lengthPattern = /\r\ncontent-length: *(\d+)/i;
const closePattern = /\r\nconnection: *close/i;

/** An answer without a length has no body that matters; such an answer ends the connection. */
export function createResponseReader(onResponse: (response: RawResponse) => void): (chunk: Buffer) => void {
  let rest: Buffer | undefined;
  return (chunk) => {
    let bytes = rest === undefined ? chunk : Buffer.concat([rest, chunk]);
    rest = undefined;
    while (bytes.length > 0) {
      const taken = readOne(bytes, onResponse);
      if (taken === 0) {
        rest = bytes;
        return;
      }
      bytes = bytes.subarray(taken);
    }
  };
}

/** Bytes of one whole answer, 0 while there is none. */
function readOne(bytes: Buffer, onResponse: (response: RawResponse) => void): number {
  const headEnd = bytes.indexOf(END_OF_HEAD);
  if (headEnd < 0) return 0;
  const head = bytes.toString('latin1', 0, headEnd);
  const length = Number(lengthPattern.exec(head)?.[1] ?? 0);
  const start = headEnd + END_OF_HEAD.length;
  if (bytes.length < start + length) return 0;
  const status = Number(head.slice(9, 12));
  // 1xx only announces the answer.
  if (status >= 200) {
    onResponse({ status, body: bytes.subarray(start, start + length), closes: closePattern.test(head) });
  }
  return start + length;
}

// What is sent to the server within one turn of the loop leaves as one piece of memory and in one write. The
// library would encode each message apart and then copy all of them together; a delivery of usual size costs it
// two pieces of memory of that size, and they are most of what the garbage collector has to do.

/** A Buffer is one. Others write themselves into the piece, without being a piece of memory before. */
export type Payload = { readonly length: number; copy: (into: Buffer, at: number) => unknown };

/** `headers`: whole lines, in ASCII; empty for none. */
export type OutgoingMessage = { subject: string; reply: string; headers: string; payload: Payload };

const HEADERS_BEGIN = 'NATS/1.0\r\n';
const LINE_END = '\r\n';

/** One header line. The value must be free of control characters. */
export function headerLine(name: string, value: string | number): string {
  return `${name}: ${value}${LINE_END}`;
}

/** In the server's protocol, one after the other. */
export function encodeOutgoing(messages: readonly OutgoingMessage[]): Buffer {
  const commands = messages.map(commandOf);
  let length = 0;
  for (const [index, { payload }] of messages.entries())
    length += (commands[index]?.length ?? 0) + payload.length + LINE_END.length;
  // Not of the shared pool: it is passed on whole, and of the size that it has.
  const bytes = Buffer.allocUnsafeSlow(length);
  let at = 0;
  for (const [index, { payload }] of messages.entries()) {
    at += bytes.write(commands[index] ?? '', at, 'latin1');
    payload.copy(bytes, at);
    at += payload.length;
    at += bytes.write(LINE_END, at, 'latin1');
  }
  return bytes;
}

function commandOf({ subject, reply, headers, payload }: OutgoingMessage): string {
  if (headers === '') return `PUB ${subject} ${reply} ${payload.length}${LINE_END}`;
  const size = HEADERS_BEGIN.length + headers.length + LINE_END.length;
  const sizes = `${size} ${size + payload.length}`;
  return `HPUB ${subject} ${reply} ${sizes}${LINE_END}${HEADERS_BEGIN}${headers}${LINE_END}`;
}

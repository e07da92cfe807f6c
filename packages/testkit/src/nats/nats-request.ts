// One request to a nats-server over a bare socket: enough for the few orders of tests, without a client library.
import { connect } from 'node:net';
import { WAIT_MS } from '../waiting.ts';

const INBOX = '_INBOX.svc-test';

/** The text of the answer: `await askNats(port, '$JS.API.INFO', '')`. */
export function askNats(port: number, subject: string, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port });
    let received = '';
    const timer = setTimeout(() => end(new Error(`${subject}: no answer in ${WAIT_MS} ms`)), WAIT_MS);
    const end = (result: Error | string): void => {
      clearTimeout(timer);
      socket.destroy();
      if (result instanceof Error) reject(result);
      else resolve(result);
    };
    socket.setEncoding('utf8');
    socket.on('connect', () => {
      socket.write('CONNECT {"verbose":false,"pedantic":false,"headers":true,"no_responders":true}\r\n');
      socket.write(`SUB ${INBOX} 1\r\nPUB ${subject} ${INBOX} ${Buffer.byteLength(text)}\r\n${text}\r\n`);
    });
    socket.on('data', (chunk: string) => {
      received += chunk;
      const problem = /^-ERR (.*)\r\n/m.exec(received)?.[1];
      if (problem !== undefined) return end(new Error(`${subject}: ${problem}`));
      if (/^HMSG /m.test(received)) return end(new Error(`${subject}: nobody answers`));
      const message = /^MSG \S+ \S+ (?:\S* )?(\d+)\r\n/m.exec(received);
      if (message === null) return undefined;
      const start = message.index + message[0].length;
      // The answers are plain ASCII: characters are bytes.
      if (received.length < start + Number(message[1])) return undefined;
      return end(received.slice(start, start + Number(message[1])));
    });
    socket.on('error', end);
    socket.on('close', () => end(new Error(`${subject}: the connection was closed`)));
  });
}

// A request as bytes, sent unchanged, even if a client library would refuse to send it.

export type RawRequest = {
  method?: string;
  path?: string;
  /** In this order, with duplicates. May contain `Host` or not. */
  headers: readonly (readonly [name: string, value: string])[];
  body?: Uint8Array;
};

export function requestBytes({ method = 'POST', path = '/api/webhook', headers, body }: RawRequest): Buffer {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  const head = Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1');
  return body === undefined ? head : Buffer.concat([head, body]);
}

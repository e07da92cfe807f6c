// A request as bytes, with nothing mended on the way: what a client library would refuse to send.

export type RawRequest = {
  method?: string;
  path?: string;
  /** In this order, also twice the same. `Host` is among them or missing. */
  headers: readonly (readonly [name: string, value: string])[];
  body?: Uint8Array;
};

export function requestBytes({ method = 'POST', path = '/api/webhook', headers, body }: RawRequest): Buffer {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  const head = Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1');
  return body === undefined ? head : Buffer.concat([head, body]);
}

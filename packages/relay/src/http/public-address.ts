// The address under which this relay is reached from outside: as the operator named it, else as the request did.
import type { IncomingMessage } from 'node:http';

const hostPattern = /^(?:[a-z0-9](?:[a-z0-9.-]{0,252})|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;

/** `https://relay.example`, without a slash at the end. A host that is none is not repeated. */
export function publicOrigin(
  request: IncomingMessage,
  publicUrl: string | null,
  behindTrustedProxy: boolean,
): string {
  if (publicUrl !== null) return publicUrl;
  const host = request.headers.host ?? '';
  const safe = hostPattern.test(host) ? host : `127.0.0.1:${request.socket.localPort ?? 80}`;
  const proto = behindTrustedProxy ? request.headers['x-forwarded-proto'] : undefined;
  return `${proto === 'https' ? 'https' : 'http'}://${safe}`;
}

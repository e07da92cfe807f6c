// Who may talk to the daemon: only this machine, and no web page of somebody else's.
// A page in a browser can reach loopback by a name of its own (DNS rebinding) or by a cross-site request;
// the Host and Origin headers tell both apart from our own clients.
import type { IncomingHttpHeaders } from 'node:http';

const loopbackNames = new Set(['127.0.0.1', 'localhost', '[::1]']);
const readingMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

export type Refusal = { code: 'foreign-host' | 'foreign-origin'; error: string; remedy: string };

export function refusalOf(method: string, headers: IncomingHttpHeaders): Refusal | undefined {
  if (!loopbackNames.has(nameOf(headers.host ?? ''))) {
    return {
      code: 'foreign-host',
      error: 'The Host header does not name this machine.',
      remedy: 'Call the daemon as 127.0.0.1 or localhost.',
    };
  }
  if (readingMethods.has(method) || headers.origin === undefined) return undefined;
  if (headers.origin === `http://${headers.host}`) return undefined;
  return {
    code: 'foreign-origin',
    error: 'The Origin header names another site.',
    remedy: 'Send state-changing requests from the dashboard or without an Origin header.',
  };
}

function nameOf(host: string): string {
  return host.replace(/:\d{1,5}$/, '').toLowerCase();
}

// Who may talk to the daemon: only this machine, and no web page of somebody else's.
// A page in a browser can reach loopback by a name of its own (DNS rebinding) or by a cross-site request;
// the Host and Origin headers tell both apart from our own clients.
import type { IncomingHttpHeaders } from 'node:http';
import type { Refusal } from '../access/access.ts';

const loopbackNames = new Set(['127.0.0.1', 'localhost', '[::1]']);
const readingMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

export function refusalOf(method: string, headers: IncomingHttpHeaders): Refusal | undefined {
  if (!loopbackNames.has(nameOf(headers.host ?? ''))) {
    return {
      status: 403,
      code: 'foreign-host',
      error: 'The Host header does not name this machine.',
      remedy: 'Call the daemon as 127.0.0.1 or localhost.',
    };
  }
  if (readingMethods.has(method) || headers.origin === undefined) return undefined;
  if (headers.origin === `http://${headers.host}`) return undefined;
  return {
    status: 403,
    code: 'foreign-origin',
    error: 'The Origin header names another site.',
    remedy: 'Send state-changing requests from the dashboard or without an Origin header.',
  };
}

/** Of a page elsewhere that asks for data: it could not read the answer, but the daemon would do the work. */
export function refusalOfSite(headers: IncomingHttpHeaders): Refusal | undefined {
  const site = headers['sec-fetch-site'];
  if (site !== 'cross-site' && site !== 'same-site') return undefined;
  return {
    status: 403,
    code: 'foreign-site',
    error: 'A page of another site made this request.',
    remedy: 'Open the address itself, or ask from the dashboard.',
  };
}

function nameOf(host: string): string {
  return host.replace(/:\d{1,5}$/, '').toLowerCase();
}

// Who may talk to the daemon: only this machine, and no web page of another site. A page in a browser can reach loopback
// through its own host name (DNS rebinding) or with a cross-site request; the Host and Origin headers distinguish both
// from our clients.
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

/** A page of another site that requests data: it could not read the response, but the daemon would do the work. */
export function refusalOfSite(headers: IncomingHttpHeaders): Refusal | undefined {
  const site = headers['sec-fetch-site'];
  if (site !== 'cross-site' && site !== 'same-site') return undefined;
  return {
    status: 403,
    code: 'foreign-site',
    error: 'A page on another site made this request.',
    remedy: 'Open the address directly, or send the request from the dashboard.',
  };
}

function nameOf(host: string): string {
  return host.replace(/:\d{1,5}$/, '').toLowerCase();
}

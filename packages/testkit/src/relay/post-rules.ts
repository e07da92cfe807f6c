// What the public relay accepts at `POST /:channel`, and how it answers what it does not: the rules of its
// framework (body limit, JSON only, no poisoned prototypes) and of its own schema.
import type { IncomingHttpHeaders } from 'node:http';

const PUBLIC_BODY_LIMIT = 1024 * 1024;
export const channelPattern = /^[a-zA-Z0-9-_]{1,128}$/;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export type Ruling = { ok: true; body: object } | { ok: false; status: number; problem: string };

export function rulingOn(headers: IncomingHttpHeaders, raw: Buffer): Ruling {
  const delivery = headers['x-github-delivery'];
  const signature = headers['x-hub-signature-256'];
  if (!/^application\/json(\s*;.*)?$/i.test(headers['content-type'] ?? ''))
    return { ok: false, status: 415, problem: 'Unsupported Media Type' };
  if (raw.length > PUBLIC_BODY_LIMIT) return { ok: false, status: 413, problem: 'Request body is too large' };
  const body = parsed(raw);
  if (body === undefined) return { ok: false, status: 400, problem: 'body must be object' };
  if (delivery !== undefined && !uuid.test(String(delivery)))
    return { ok: false, status: 400, problem: 'headers/x-github-delivery must match format "uuid"' };
  if (signature !== undefined && !/^sha256=[a-f0-9]{64}$/.test(String(signature)))
    return { ok: false, status: 400, problem: 'headers/x-hub-signature-256 must match pattern' };
  return { ok: true, body };
}

function parsed(raw: Buffer): object | undefined {
  try {
    const value: unknown = JSON.parse(raw.toString('utf8'));
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return isPoisoned(value) ? undefined : value;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** A `__proto__` key, or `constructor.prototype`, at any depth. */
function isPoisoned(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Object.hasOwn(value, '__proto__')) return true;
  const made: unknown = Object.hasOwn(value, 'constructor') ? Reflect.get(value, 'constructor') : undefined;
  if (typeof made === 'object' && made !== null && Object.hasOwn(made, 'prototype')) return true;
  return Object.values(value).some(isPoisoned);
}

// The model: whether a request may be accepted at all. Written from the design (§5, §7), not from the
// receivers' code, so that the two can disagree.
import { createHmac } from 'node:crypto';
import { codehostSecret, trackerSecret } from '../../packages/testkit/src/daemon/start-daemon.ts';

/** A request as intended; `headers` in the order of the wire, with duplicates. */
export type Draft = {
  method: string;
  path: string;
  headers: readonly (readonly [name: string, value: string])[];
  body: Buffer;
};

type FeedRules = {
  secret: string;
  signature: RegExp;
  signatureNames: string[];
  idNames: string[];
  typed: boolean;
};

const codehost: FeedRules = {
  secret: codehostSecret,
  signature: /^sha256=([0-9a-f]{64})$/i,
  signatureNames: ['x-hub-signature-256'],
  idNames: ['x-codehost-delivery', 'x-github-delivery'],
  typed: true,
};
const tracker: FeedRules = {
  secret: trackerSecret,
  signature: /^([0-9a-f]{64})$/i,
  signatureNames: ['tracker-signature', 'linear-signature'],
  idNames: ['tracker-delivery', 'linear-delivery'],
  typed: false,
};
const feeds: Record<string, FeedRules> = {
  '/api/webhook': codehost,
  '/api/webhook/tracker': tracker,
  '/api/webhook/linear': tracker,
};

/** Signed with the feed's secret over exactly these bytes, a JSON object, one printable id, from this machine. */
export function isAcceptable(draft: Draft): boolean {
  const feed = feeds[draft.path.split('?')[0] ?? ''];
  if (feed === undefined || draft.method !== 'POST') return false;
  const [signature, more] = valuesOf(draft, feed.signatureNames);
  const digits = feed.signature.exec(signature ?? '')?.[1]?.toLowerCase();
  const wanted = createHmac('sha256', feed.secret).update(draft.body).digest('hex');
  const isSigned = digits === wanted && more === undefined;
  return isSigned && isFromHere(draft) && hasId(draft, feed) && isReadable(draft) && hasType(draft, feed);
}

function isFromHere(draft: Draft): boolean {
  const [host = ''] = valuesOf(draft, ['host']);
  const [origin] = valuesOf(draft, ['origin']);
  const isLoopback = /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/i.test(host);
  return isLoopback && (origin === undefined || origin === `http://${host}`);
}

function hasId(draft: Draft, { idNames }: FeedRules): boolean {
  const values = valuesOf(draft, idNames);
  return (
    values.length > 0 &&
    values.every((id) => id === '' || /^[\x21-\x7e]{1,200}$/.test(id)) &&
    values.join('') !== ''
  );
}

/** Without a header the shape of the payload may decide; with one it must be a name. */
function hasType(draft: Draft, { typed }: FeedRules): boolean {
  const [type] = valuesOf(draft, ['x-codehost-event', 'x-github-event']).filter((value) => value !== '');
  return !typed || type === undefined || /^[a-z][a-z0-9_]{0,63}$/.test(type);
}

/** JSON, whatever the content type, or a form with the JSON in `payload`. */
function isReadable({ body }: Draft): boolean {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
    const json = text.startsWith('payload=') ? (new URLSearchParams(text).get('payload') ?? '') : text;
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

function valuesOf({ headers }: Draft, names: readonly string[]): string[] {
  return headers.filter(([name]) => names.includes(name.toLowerCase())).map(([, value]) => value.trim());
}

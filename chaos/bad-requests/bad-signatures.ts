// Signatures that are missing, of another form, for other bytes or from another secret: always 401.
import { gzipSync } from 'node:zlib';
import { codehostSecret, trackerSecret } from '../../packages/testkit/src/daemon/start-daemon.ts';
import { hmac, type Kind, kind, type Source, whole, withHeaders } from './bad-request.ts';
import type { Draft } from './model.ts';

const name = 'X-Hub-Signature-256';

export const badSignatures: Kind[] = [
  signature('missing', () => undefined),
  signature('empty', () => ''),
  signature('too short', (good, { random }) => good.slice(0, random.below(good.length - 1) + 1)),
  signature('too long', (good, { random }) => good + random.below(16).toString(16)),
  signature('without its prefix', (good) => good.slice('sha256='.length)),
  signature('sha1', (good) => good.replace('sha256', 'sha1').slice(0, 45)),
  signature('one digit changed', changedDigit),
  signature('random', ({ length }, { random }) =>
    `sha256=${random.bytes(32).toString('hex')}`.slice(0, length),
  ),
  signature('of the tracker secret', (_good, _source, { body }) => `sha256=${hmac(trackerSecret, body)}`),
  signature(
    'of another secret',
    (_good, { random }, { body }) => `sha256=${hmac(String(random.next()), body)}`,
  ),
  signature('of no bytes', () => `sha256=${hmac(codehostSecret, Buffer.alloc(0))}`),
  signature('as base64', (good) => `sha256=${Buffer.from(good.slice(7), 'hex').toString('base64')}`),
  signature('not hex', (good) => good.replace(/.{4}$/, 'zzzz')),
  kind('signature: twice', 1, (source) => {
    const draft = source.good();
    const wrong = [name, `sha256=${'0'.repeat(64)}`] as const;
    const headers = source.random.chance(0.5) ? [wrong, ...draft.headers] : [...draft.headers, wrong];
    return whole({ ...draft, headers }, 401);
  }),
  // The same number in upper case: rejected or accepted, both are right.
  kind('signature: upper case', 1, (source) => {
    const draft = source.good();
    return whole(
      withHeaders(draft, { [name]: `sha256=${signatureOf(draft).slice(7).toUpperCase()}` }),
      200,
      401,
    );
  }),
  otherBytes('re-serialised', (body) => Buffer.from(JSON.stringify(JSON.parse(body.toString()), null, 2))),
  otherBytes('one byte changed', changedByte),
  otherBytes('one byte more', (body) => Buffer.concat([body, Buffer.from(' ')])),
  otherBytes('one byte less', (body) => body.subarray(0, -1)),
  otherBytes('compressed', (body) => gzipSync(body)),
  kind('tracker: signed with the code host secret', 1, (source) => {
    const draft = source.goodTracker();
    return whole(withHeaders(draft, { 'Tracker-Signature': hmac(codehostSecret, draft.body) }), 401);
  }),
  kind('tracker: no signature', 1, (source) =>
    whole(withHeaders(source.goodTracker(), { 'Tracker-Signature': undefined }), 401),
  ),
];

function signature(
  what: string,
  change: (good: string, source: Source, draft: Draft) => string | undefined,
): Kind {
  return kind(`signature: ${what}`, 1, (source) => {
    const draft = source.good();
    return whole(withHeaders(draft, { [name]: change(signatureOf(draft), source, draft) }), 401);
  });
}

/** Signed for one body, sent with another. */
function otherBytes(what: string, change: (body: Buffer, source: Source) => Buffer): Kind {
  return kind(`signed body: ${what}`, 1, (source) => {
    const draft = source.good();
    const body = change(draft.body, source);
    return whole({ ...withHeaders(draft, { 'Content-Length': String(body.length) }), body }, 401);
  });
}

function signatureOf({ headers }: Draft): string {
  return headers.find(([header]) => header === name)?.[1] ?? '';
}

function changedDigit(good: string, { random }: Source): string {
  const at = 'sha256='.length + random.below(64);
  const digit = ((Number.parseInt(good[at] ?? '0', 16) + 1 + random.below(15)) % 16).toString(16);
  return good.slice(0, at) + digit + good.slice(at + 1);
}

function changedByte(body: Buffer, { random }: Source): Buffer {
  const copy = Buffer.from(body);
  const at = random.below(copy.length);
  copy[at] = (copy[at] ?? 0) ^ (1 + random.below(255));
  return copy;
}

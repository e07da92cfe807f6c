// Headers that are missing, hostile or from another site's page; other methods and paths.
import type { Random } from '../../packages/testkit/src/random.ts';
import { requestBytes } from '../../packages/testkit/src/wire/exchange.ts';
import { apart, type Kind, kind, type Source, withHeaders } from './bad-request.ts';
import type { Draft } from './model.ts';

const id = 'X-Codehost-Delivery';
const type = 'X-Codehost-Event';

export const badHeaders: Kind[] = [
  header('no delivery id', [400], () => ({ [id]: undefined })),
  header('blank delivery id', [400], () => ({ [id]: '   ' })),
  header('delivery id with spaces', [400], (random) => ({ [id]: `a b ${random.next()}` })),
  header('delivery id beyond ASCII', [400], (random) => ({ [id]: `é${random.next()}` })),
  header('delivery id too long', [400], (random) => ({ [id]: 'x'.repeat(201 + random.below(2000)) })),
  request('delivery id twice', [400], (draft, { random }) => twice(draft, id, `other-${random.next()}`)),
  // Each has a number, so that it is new.
  header('strange delivery id', [200], (random) => ({
    [id]: `${random.pick(strangeIds)}-${random.below(2 ** 32)}`,
  })),
  header('strange event type', [400], (random) => ({ [type]: random.pick(strangeTypes) })),
  request('event type twice', [400], (draft) => twice(draft, type, 'push')),
  header('foreign Host', [403, 400], (random) => ({ Host: random.pick(foreignHosts) })),
  header('foreign Origin', [403], (random) => ({ Origin: random.pick(foreignOrigins) })),
  header('no Host', [400, 403], () => ({ Host: undefined })),
  header('another content type', [200, 400], (random) => ({ 'Content-Type': random.pick(contentTypes) })),
  header('unknown Expect', [417], () => ({ Expect: 'a miracle' })),
  request('many headers', [200, 431], manyHeaders),
  header('huge header', [431], (random) => ({ 'X-Huge': 'x'.repeat(33_000 + random.below(30_000)) })),
  request('another method', [404, 405, 400], (draft, { random }) => {
    return { ...draft, method: random.pick(['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) };
  }),
  request('no method', [400], (draft, { random }) => {
    return { ...draft, method: random.pick(['FETCH', 'post', '\u0000', 'POST POST']) };
  }),
  request('another path', [404, 400, 405, 415, 413], (draft, { random }) => {
    return { ...draft, path: random.pick(paths) };
  }),
  request('a path with a query', [200, 404], (draft) => ({ ...draft, path: `${draft.path}?a=1` })),
  kind('head: a random byte', 6, randomByteInHead),
];

const paths = [
  ...'/ /api/webhook/ /api//webhook /api/webhook/../webhook /API/WEBHOOK /api/webhook%00'.split(' '),
  ...'/api/webhook/other /api%2fwebhook //127.0.0.1/api/webhook /api/health /metrics *'.split(' '),
  `/${'a'.repeat(5000)}`,
];
/** Names with a meaning elsewhere: of a field, a path, a query, a format. */
const strangeIds = '__proto__ ../../etc/passwd \';DROP-- "}] %00 $(id) {{7*7}} 0 - \\n a,b'.split(' ');
const strangeTypes = [
  ...'Pull_Request ../x __proto__ 0 é % push,push {}'.split(' '),
  'push push',
  'x'.repeat(65),
];
const foreignHosts = [
  ...'evil.example 127.0.0.1.evil.example localhost.evil:80 127.0.0.2 0.0.0.0'.split(' '),
  ...'[::] 127.1 localhost:999999 127.0.0.1@evil'.split(' '),
  '',
  'x'.repeat(300),
];
const foreignOrigins =
  'https://evil.example null http://127.0.0.1:1 http://localhost file:// * http://127.0.0.1.evil'.split(' ');
const contentTypes = [
  ...'text/plain application/xml é application/x-www-form-urlencoded'.split(' '),
  'multipart/form-data; boundary=x',
  'application/json; charset=utf-16',
  '',
];

function request(what: string, may: number[], change: (draft: Draft, source: Source) => Draft): Kind {
  return kind(`head: ${what}`, 1, (source) => {
    const draft = change(source.good(), source);
    return apart(draft, { pieces: [requestBytes(draft)] }, ...may);
  });
}

/** A valid request with other headers; `undefined` leaves one out. */
function header(
  what: string,
  may: number[],
  changes: (random: Random) => Record<string, string | undefined>,
): Kind {
  return request(what, may, (draft, { random }) => withHeaders(draft, changes(random)));
}

function twice(draft: Draft, name: string, value: string): Draft {
  return { ...draft, headers: [...draft.headers, [name, value]] };
}

function manyHeaders(draft: Draft, { random }: Source): Draft {
  const more = Array.from({ length: random.below(1500) }, (_, index) => [`x${index}`, '1'] as const);
  return { ...draft, headers: [...draft.headers, ...more] };
}

/**
 * Anywhere but in the signature and the id: the body stays validly signed, so both a 200 and a rejection can be right,
 * and a line whose answer was lost is identified by its id.
 */
function randomByteInHead(source: Source): ReturnType<Kind['make']> {
  const good = source.good();
  const bytes = requestBytes(good);
  const at = source.random.below(bytes.length - good.body.length);
  const isIn = (name: string): boolean => {
    const from = bytes.indexOf(name);
    return at >= from && at < bytes.indexOf('\r\n', from) + 2;
  };
  if (!isIn('X-Hub-Signature-256') && !isIn(id)) bytes[at] = source.random.below(256);
  const may = [200, 400, 401, 403, 404, 405, 411, 413, 415, 417, 431, 501, 505];
  return apart(good, { pieces: [bytes], after: 'end-later' }, ...may, 'closed');
}

// Headers that are missing, hostile or of somebody else's page; other methods and paths.

import { requestBytes } from '../../packages/testkit/src/wire/request-bytes.ts';
import { apart, type Kind, type Source, withHeaders } from './bad-request.ts';
import type { Draft } from './model.ts';

const id = 'X-Codehost-Delivery';
const type = 'X-Codehost-Event';

export const badHeaders: Kind[] = [
  header('no delivery id', (draft) => withHeaders(draft, { [id]: undefined }), 400),
  header('blank delivery id', (draft) => withHeaders(draft, { [id]: '   ' }), 400),
  header(
    'delivery id with spaces',
    (draft, { random }) => withHeaders(draft, { [id]: `a b ${random.next()}` }),
    400,
  ),
  header(
    'delivery id beyond ASCII',
    (draft, { random }) => withHeaders(draft, { [id]: `é${random.next()}` }),
    400,
  ),
  header(
    'delivery id too long',
    (draft, { random }) => withHeaders(draft, { [id]: 'x'.repeat(201 + random.below(2000)) }),
    400,
  ),
  header('delivery id twice', (draft, { random }) => twice(draft, id, `other-${random.next()}`), 400),
  header('strange delivery id', (draft, { random }) => withHeaders(draft, { [id]: strangeId(random) }), 200),
  header(
    'strange event type',
    (draft, { random }) => withHeaders(draft, { [type]: strangeType(random) }),
    400,
  ),
  header('event type twice', (draft) => twice(draft, type, 'push'), 400),
  header('foreign Host', (draft, { random }) => withHeaders(draft, { Host: foreignHost(random) }), 403, 400),
  header('foreign Origin', (draft, { random }) => withHeaders(draft, { Origin: foreignOrigin(random) }), 403),
  header('no Host', (draft) => withHeaders(draft, { Host: undefined }), 400, 403),
  header(
    'another content type',
    (draft, { random }) => withHeaders(draft, { 'Content-Type': contentType(random) }),
    200,
    400,
  ),
  header('unknown Expect', (draft) => withHeaders(draft, { Expect: 'a miracle' }), 417),
  header('many headers', manyHeaders, 200, 431),
  header(
    'huge header',
    (draft, { random }) => withHeaders(draft, { 'X-Huge': 'x'.repeat(33_000 + random.below(30_000)) }),
    431,
  ),
  header(
    'another method',
    (draft, { random }) => ({
      ...draft,
      method: random.pick(['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']),
    }),
    404,
    405,
    400,
  ),
  header(
    'no method',
    (draft, { random }) => ({ ...draft, method: random.pick(['FETCH', 'post', '\u0000', 'POST POST']) }),
    400,
  ),
  header(
    'another path',
    (draft, { random }) => ({ ...draft, path: random.pick(paths) }),
    404,
    400,
    405,
    415,
    413,
  ),
  header('a path with a query', (draft) => ({ ...draft, path: `${draft.path}?a=1` }), 200, 404),
  { name: 'head: a random byte', weight: 6, make: randomByteInHead },
];

const paths = [
  '/',
  '/api/webhook/',
  '/api//webhook',
  '/api/webhook/../webhook',
  '/API/WEBHOOK',
  '/api/webhook%00',
  '/api/webhook/other',
  '/api%2fwebhook',
  '//127.0.0.1/api/webhook',
  `/${'a'.repeat(5000)}`,
  '/api/health',
  '/metrics',
  '*',
];

function header(what: string, change: (draft: Draft, source: Source) => Draft, ...may: number[]): Kind {
  return {
    name: `head: ${what}`,
    weight: 1,
    make(source) {
      const draft = change(source.good(), source);
      return apart(draft, { pieces: [requestBytes(draft)] }, ...may);
    },
  };
}

function twice(draft: Draft, name: string, value: string): Draft {
  return { ...draft, headers: [...draft.headers, [name, value]] };
}

/** Ids that are names elsewhere: of a field, a path, a query, a format. Each has a number, to be new. */
function strangeId(random: Source['random']): string {
  const name = random.pick([
    '__proto__',
    '../../etc/passwd',
    "';DROP--",
    '"}]',
    '%00',
    '$(id)',
    '{{7*7}}',
    '0',
    '-',
    '\\n',
    'a,b',
  ]);
  return `${name}-${random.below(2 ** 32)}`;
}

function strangeType(random: Source['random']): string {
  return random.pick([
    'Pull_Request',
    '../x',
    'push push',
    '__proto__',
    '0',
    'é',
    'x'.repeat(65),
    '%',
    'push,push',
    '{}',
  ]);
}

function foreignHost(random: Source['random']): string {
  return random.pick([
    'evil.example',
    '127.0.0.1.evil.example',
    'localhost.evil:80',
    '',
    '127.0.0.2',
    '0.0.0.0',
    '[::]',
    '127.1',
    'localhost:999999',
    '127.0.0.1@evil',
    'x'.repeat(300),
  ]);
}

function foreignOrigin(random: Source['random']): string {
  return random.pick([
    'https://evil.example',
    'null',
    'http://127.0.0.1:1',
    'http://localhost',
    'file://',
    '*',
    'http://127.0.0.1.evil',
  ]);
}

function contentType(random: Source['random']): string {
  return random.pick([
    'text/plain',
    'application/xml',
    'multipart/form-data; boundary=x',
    'application/json; charset=utf-16',
    '',
    'é',
    'application/x-www-form-urlencoded',
  ]);
}

function manyHeaders(draft: Draft, { random }: Source): Draft {
  const more = Array.from({ length: random.below(1500) }, (_, index) => [`x${index}`, '1'] as const);
  return { ...draft, headers: [...draft.headers, ...more] };
}

/**
 * Anywhere but in the signature and the id: the body stays validly signed, so that a 200 can be right, or a refusal;
 * and a line whose answer was lost is known by its id.
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
  return apart(
    good,
    { pieces: [bytes], after: 'end-later' },
    200,
    400,
    401,
    403,
    404,
    405,
    411,
    413,
    415,
    417,
    431,
    501,
    505,
    'closed',
  );
}

// Bodies that are validly signed but not a payload, or a hostile one. A JSON object is accepted; its result has to be
// one complete line of the log.
import { gzipSync } from 'node:zlib';
import { type Kind, kind, type Source, whole } from './bad-request.ts';

export const badBodies: Kind[] = [
  body('random bytes', ({ random }) => random.bytes(random.below(2000)), 400),
  body('empty', () => '', 400),
  body('not an object', ({ random }) => random.pick('[] [{}] "text" null true 1 1e400'.split(' ')), 400),
  body('nearly JSON', nearlyJson, 400),
  body('cut JSON', ({ good, random }) => cut(good().body, random.next()), 400),
  body('two objects', ({ good }) => Buffer.concat([good().body, good().body]), 400),
  body('gzip', ({ good }) => gzipSync(good().body), 400),
  body('UTF-16', ({ good }) => Buffer.from(good().body.toString(), 'utf16le'), 400),
  body('invalid UTF-8', invalidUtf8, 400),
  body('latin-1 text', () => Buffer.from('{"action":"crée"}', 'latin1'), 400),
  body('byte order mark', ({ good }) => Buffer.concat([Buffer.from('\ufeff'), good().body]), 200, 400),
  body('lone surrogates', () => '{"action":"\\ud800","repository":{"full_name":"\\udc00a\\u0000"}}', 200),
  body('deep objects', ({ random }) => nested(random, '{"a":', '}', '{}'), 200, 400),
  body('deep arrays', ({ random }) => nested(random, '[', ']', ''), 400),
  body('deep in known fields', deepInKnownFields, 200, 400),
  body('hostile keys', hostileKeys, 200),
  body('huge numbers', hugeNumbers, 200),
  body('wrong types everywhere', wrongTypes, 200),
  body('many keys', ({ random }) => JSON.stringify(manyKeys(random.below(5000))), 200),
  body('same key twice', () => '{"action":"opened","action":{"action":[]},"number":1,"number":"1"}', 200),
  { ...body('long texts', longTexts, 200), weight: 0.1 },
  body('a form without a payload', () => 'payloads=%7B%7D', 400),
  body('a broken form', () => 'payload=%7B%ZZ%00&payload={}', 400),
];

/** Two of the kinds are forms; the others claim to be JSON. */
function body(what: string, make: (source: Source) => Uint8Array | string, ...may: number[]): Kind {
  const headers: Record<string, string> = what.includes('form')
    ? { 'Content-Type': 'application/x-www-form-urlencoded' }
    : {};
  return kind(`body: ${what}`, 1, (source) => whole(source.signed(make(source), headers), ...may));
}

function cut(bytes: Buffer, part: number): Buffer {
  return bytes.subarray(0, Math.floor(bytes.length * part));
}

function nearlyJson({ random }: Source): string {
  return random.pick([
    '// c\n{}',
    ...`{a:1} {'a':1} {"a":1,} {"a":1}x {"a":NaN} {"a":01} {"a":\u0001} {`.split(' '),
  ]);
}

function invalidUtf8({ good, random }: Source): Buffer {
  const bad = random.pick([[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xe2, 0x82]]);
  return Buffer.concat([
    Buffer.from('{"action":"'),
    Buffer.from(bad),
    Buffer.from('",'),
    good().body.subarray(1),
  ]);
}

function nested(random: Source['random'], open: string, close: string, middle: string): string {
  const depth = random.pick([100, 1_000, 10_000, 100_000]);
  return open.repeat(depth) + middle + close.repeat(depth);
}

function deepInKnownFields({ random }: Source): string {
  const deep = nested(random, '[', ']', '');
  const field = random.pick(['action', 'repository', 'pull_request', 'sender', 'deployment', 'check_suite']);
  return `{"${field}":${deep},"pull_request":{"labels":${deep},"head":{"ref":${deep}}}}`;
}

function hostileKeys({ good, random }: Source): string {
  const hostile = random.pick([
    '"__proto__":{"action":"closed","merged":true}',
    '"constructor":{"prototype":{"polluted":true}}',
    '"repository":{"__proto__":{"full_name":"x"},"full_name":{"toString":1}}',
    '"toString":1,"valueOf":2,"hasOwnProperty":3,"toJSON":4,"then":5',
    '"pull_request":{"__proto__":null,"number":1,"head":{"toJSON":{}}}',
    '"":1,"\\u0000":2,"\\n":3',
  ]);
  return `{${hostile},${good().body.toString().slice(1)}`;
}

function hugeNumbers({ random }: Source): string {
  const number = (): string =>
    random.pick(['1e400', '-1e400', '9007199254740993', '1.5', '-0', '1e-400', `1${'0'.repeat(400)}`]);
  const fields = ['number', 'id', 'state', 'sha'].map((field) => `"${field}":${number()}`).join(',');
  const objects = 'pull_request deployment deployment_status check_suite issue comment review'.split(' ');
  return `{"action":"created",${fields},${objects.map((name) => `"${name}":{${fields},"additions":${number()}}`).join(',')}}`;
}

/** A real payload in which values have been replaced by ones of another type. */
function wrongTypes({ good, random }: Source): string {
  const wrong = (): unknown =>
    random.pick<unknown>([null, true, 0, -1, '', 'text', [], {}, [null], { a: 1 }, 1e21, ['x'.repeat(300)]]);
  const change = (value: unknown): unknown => {
    if (random.chance(0.15)) return wrong();
    if (Array.isArray(value)) return value.map(change);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, change(inner)]));
  };
  const payload: Record<string, unknown> = JSON.parse(good().body.toString());
  return JSON.stringify(
    Object.fromEntries(Object.entries(payload).map(([name, value]) => [name, change(value)])),
  );
}

function manyKeys(count: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, index]));
}

/** A line has at most 64 KiB, so these have to be cut. */
function longTexts({ random }: Source): string {
  const text = random
    .pick(['x', 'é', '漢', '😀', '\\', '"', '\u0001'])
    .repeat(100_000 + random.below(400_000));
  const comment = { body: text, user: { login: text }, html_url: text };
  return JSON.stringify({
    action: 'created',
    issue: { number: 1, title: text },
    comment,
    repository: { full_name: text },
  });
}

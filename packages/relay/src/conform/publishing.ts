// The rows about publishing: what is accepted, what reaches the readers, and whether the bytes stay the same.
import { randomUUID } from 'node:crypto';
import { isRelayPosition } from '@svc/contract/relay/relay-headers';
import { readRelayMessage } from '@svc/contract/relay/relay-message';
import {
  checkRefused,
  deliveriesIn,
  deliveryHeaders,
  fieldIn,
  frameOf,
  isTaken,
  jsonDelivery,
  type Kit,
  layoutOf,
  MIB,
  parsed,
  type Row,
  range,
  textIn,
} from './kit.ts';
import { bodies, check } from './wire.ts';

export const publishing: readonly Row[] = [
  {
    id: 'P2.1',
    text: 'a JSON object up to 1 MiB is answered 200',
    part: 'public',
    async run({ channel, send }) {
      const { url } = await channel('large');
      const frame = '{"filler":""}'.length;
      const answer = await send(url, jsonDelivery({ filler: 'x'.repeat(MIB - frame) }));
      check(answer.status === 200, `1 MiB was answered ${answer.status || answer.body}`);
    },
  },
  {
    id: 'P2.2',
    text: 'the layout of a delivery: headers, body, query, timestamp',
    part: 'public',
    async run(kit) {
      const body = { conform: randomUUID(), nested: { list: [1, 'two', null] } };
      const layout = await layoutOf(kit, { ...jsonDelivery(body), query: '?one=1&two=zwei' });
      check(layout['x-github-event'] === 'push', 'the header X-GitHub-Event did not travel');
      check(layout['x-mixed-case'] === 'Kept', 'the name of a header is not in lower case');
      check(textIn(layout, 'content-type')?.startsWith('application/json') === true, 'no content-type');
      check(JSON.stringify(layout['body']) === JSON.stringify(body), 'body is not what was sent');
      check(
        JSON.stringify(layout['query']) === '{"one":"1","two":"zwei"}',
        `query is ${JSON.stringify(layout['query'])}`,
      );
      const { timestamp } = layout;
      check(
        Number.isSafeInteger(timestamp) && Number(timestamp) > 1e12,
        `timestamp is ${JSON.stringify(timestamp)}, not milliseconds`,
      );
    },
  },
  {
    id: 'P2.3',
    text: 'a body that did not arrive whole is not delivered',
    part: 'public',
    async run(kit) {
      const series = kit.series(await kit.channel('main'));
      const reader = await kit.listen(series.channel);
      const whole = { ...deliveryHeaders(), 'content-type': 'application/json' };
      const body = Buffer.from(`{"conform":"${series.tag}","number":1}`);
      await kit.sendOnce(series.channel.url, { headers: whole, body, cutAfter: body.length - 1 });
      await series.post(2);
      const got = await series.upTo(reader, 2);
      const torn = reader.frames.filter(({ data }) => data.includes(series.tag)).length > 1;
      check(got.length === 1 && !torn, 'a part of a body was delivered');
    },
  },
  {
    id: 'P2.4',
    text: 'other methods are refused',
    part: 'public',
    async run({ channel, send }) {
      const { url } = await channel('main');
      for (const method of ['PUT', 'DELETE', 'PATCH'])
        checkRefused(await send(url, { method }), `${method} of a channel`);
    },
  },
  {
    id: 'P2.5',
    text: '40 bodies arrive byte for byte',
    part: 'extension',
    run: byteFidelity,
  },
  {
    id: 'P2.6',
    text: 'without raw=1: JSON as it was written, other bodies as strings',
    part: 'extension',
    async run(kit) {
      const written = '{"a":1.0,"b":"\\u001B","c":12345678901234567890}';
      const frame = await frameOf(kit, { body: Buffer.from(written), headers: deliveryHeaders() });
      check(frame.data.includes(`"body":${written}`), 'a JSON body was written again');
      const plain = await layoutOf(kit, { body: Buffer.from('one\ntwo'), headers: plainText() });
      check(plain['body'] === 'one\ntwo', 'a text is not a string');
      const bytes = Buffer.from([0xff, 0x00, 0xfe]);
      const binary = await layoutOf(kit, { body: bytes, headers: plainText() });
      check(binary['body'] === bytes.toString('base64'), 'bytes that are not text are not in base64');
    },
  },
  {
    id: 'P2.7',
    text: 'headers of identity, proxies and the connection stay',
    part: 'extension',
    async run(kit) {
      const staying = {
        authorization: 'Bearer not-for-readers',
        cookie: 'session=not-for-readers',
        'x-svc-relay-key': 'not-for-readers',
        'proxy-authorization': 'Basic bm90',
        'x-forwarded-for': '192.0.2.1',
        'x-real-ip': '192.0.2.1',
        forwarded: 'for=192.0.2.1',
        via: '1.1 proxy',
        'sec-fetch-mode': 'cors',
        'cf-ray': '1',
        'keep-alive': 'timeout=5',
        te: 'trailers',
      };
      const layout = await layoutOf(kit, {
        ...jsonDelivery({}),
        headers: { ...deliveryHeaders(), ...staying },
      });
      const travelled = [...Object.keys(staying), 'host', 'connection', 'content-length'].filter((name) =>
        Object.hasOwn(layout, name),
      );
      check(travelled.length === 0, `these travelled: ${travelled.join(', ')}`);
    },
  },
  {
    id: 'P2.8',
    text: 'a header with the name of a field does not replace it',
    part: 'extension',
    async run(kit) {
      const names = { body: 'no', query: 'no', timestamp: '1', bodyb: 'no', rawdata: 'no' };
      const headers = { ...deliveryHeaders(), ...names };
      const layout = await layoutOf(kit, { headers, body: Buffer.from('{"a":1}') });
      const wrong = Object.entries(names).filter(([name, value]) => layout[name] === value);
      check(wrong.length === 0, `taken from a header: ${wrong.map(([name]) => name).join(', ')}`);
    },
  },
  {
    id: 'P2.9',
    text: 'the answer has the position of the delivery',
    part: 'extension',
    async run(kit) {
      const series = kit.series(await kit.channel('main'));
      const reader = await kit.listen(series.channel);
      const [id] = await series.post(1);
      check(isRelayPosition(id), 'the answer has no position');
      await series.upTo(reader, 1);
      check(series.frameOf(reader, 1)?.id === id, 'the frame has another id than the answer');
    },
  },
  {
    id: 'P2.10',
    text: 'a repeated delivery is stored once',
    part: 'extension',
    async run(kit) {
      const series = kit.series(await kit.channel('main'));
      const reader = await kit.listen(series.channel);
      const delivery = jsonDelivery({ conform: series.tag, number: 1 });
      const first = await kit.send(series.channel.url, delivery);
      const again = await kit.send(series.channel.url, delivery);
      await series.post(2);
      const got = await series.upTo(reader, 2);
      check(got.length === 2, `it was delivered ${got.length - 1} times`);
      check(again.status === 200, `the repetition was answered ${again.status}`);
      const answer = parsed(again.body);
      check(fieldIn(answer, 'duplicate') === true, 'the answer does not report a duplicate');
      check(textIn(answer, 'id') === textIn(parsed(first.body), 'id'), 'the answer has another id');
    },
  },
  {
    id: 'P2.11',
    text: 'at most 100 headers travel, each up to 8 KiB',
    part: 'extension',
    async run(kit) {
      const many = Object.fromEntries(range(1, 120).map((number) => [`x-conform-${number}`, 'x']));
      const headers = { ...deliveryHeaders(), 'x-conform-long': 'x'.repeat(9000), ...many };
      const layout = await layoutOf(kit, { headers, body: Buffer.from('{}') });
      check(!Object.hasOwn(layout, 'x-conform-long'), 'a header of 9,000 characters travelled');
      const count = Object.keys(layout).length - ['body', 'query', 'timestamp'].length;
      check(count <= 100, `${count} headers travelled`);
    },
  },
  {
    id: 'P2.14',
    text: 'another body under a known delivery id is stored',
    part: 'extension',
    async run(kit) {
      const series = kit.series(await kit.channel('main'));
      const reader = await kit.listen(series.channel);
      const headers = deliveryHeaders();
      for (const number of [1, 2])
        await kit.send(series.channel.url, {
          ...jsonDelivery({ conform: series.tag, number }),
          headers,
        });
      await series.post(3);
      const got = await series.upTo(reader, 3);
      check(got.length === 3, `${3 - got.length} of 3 deliveries were dropped`);
    },
  },
];

/** The signature matches if the bytes are the same: `bodyB`, or `body` as the public client serialises it. */
async function byteFidelity(kit: Kit): Promise<string> {
  const series = kit.series(await kit.channel('large'));
  const reader = await kit.listen(series.channel, '?raw=1');
  const problems: string[] = [];
  for (const [index, { name, body, headers, sending = 'whole' }] of bodies.entries()) {
    const marked = { ...deliveryHeaders(), 'x-conform': `${series.tag} ${index}`, ...headers };
    const answer = await kit.send(series.channel.url, { headers: marked, body, sending });
    if (!isTaken(answer)) problems.push(`${name}: ${answer.status || answer.body}`);
  }
  await series.post(1);
  await series.upTo(reader, 1);
  const arrived = new Map(
    deliveriesIn(reader).map(({ data }) => {
      const read = readRelayMessage(data);
      if (!read.ok) return ['', undefined];
      return [read.message.headers['x-conform'] ?? '', read.message.body];
    }),
  );
  for (const [index, { name, body }] of bodies.entries()) {
    const got = arrived.get(`${series.tag} ${index}`);
    const same = got !== undefined && Buffer.from(got.data, got.encoding).equals(body);
    const isKnown = problems.some((problem) => problem.startsWith(`${name}:`));
    if (!same && !isKnown) problems.push(`${name}: ${got === undefined ? 'lost' : 'changed'}`);
  }
  const fine = `${bodies.length - problems.length} of ${bodies.length} byte for byte`;
  check(
    problems.length === 0,
    `${fine}; ${problems.slice(0, 3).join('; ')}${problems.length > 3 ? '; …' : ''}`,
  );
  return fine;
}

function plainText(): Record<string, string> {
  return { ...deliveryHeaders(), 'content-type': 'text/plain' };
}

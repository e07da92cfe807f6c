// The rows of the conformance kit: one for each clause of docs/relay/protocol.md that can be checked from outside.
// Those about channels, rights and limits are here.
import { randomUUID } from 'node:crypto';
import {
  channelIn,
  checkCode,
  checkRefused,
  deliveryHeaders,
  fieldIn,
  isTaken,
  jsonDelivery,
  type Kit,
  MIB,
  NotOffered,
  parsed,
  type Row,
  range,
  textIn,
} from './kit.ts';
import { publishing } from './publishing.ts';
import { guarantees, resuming } from './resuming.ts';
import { streams } from './streams.ts';
import { type Answer, check } from './wire.ts';

const MAX_BODY_BYTES = 25 * MIB;

const channels: readonly Row[] = [
  {
    id: 'P1.1',
    text: 'the form of channel ids',
    part: 'public',
    async run({ channel, send, base }) {
      const { url } = await channel('main');
      check(channelIn(url) !== undefined, 'the id of a new channel has another form');
      for (const id of ['not.a.channel', 'a'.repeat(129)]) {
        const answer = await send(`${base}/${id}`, jsonDelivery({}));
        checkRefused(answer, `a post to /${id.slice(0, 20)}`);
      }
    },
  },
  {
    id: 'P1.2',
    text: 'GET and HEAD /new redirect to a new channel',
    part: 'public',
    async run({ send, base, createKey }) {
      const headers: Record<string, string> =
        createKey === null ? {} : { authorization: `Bearer ${createKey}` };
      const ids: (string | undefined)[] = [];
      for (const method of ['GET', 'HEAD']) {
        const answer = await send(`${base}/new`, { method, headers });
        if (answer.status === 401 || answer.status === 403)
          throw new NotOffered(`${method} /new was answered ${answer.status}`);
        check(answer.status === 307, `${method} /new was answered ${answer.status}`);
        ids.push(channelIn(answer.header('location')));
      }
      check(ids[0] !== undefined && ids[1] !== undefined, 'the Location is not the address of a channel');
      check(ids[0] !== ids[1], 'the same channel was given twice');
      const taken = await send(`${base}/${ids[0]}`, jsonDelivery({}));
      check(isTaken(taken), `a post to the new channel was answered ${taken.status}`);
    },
  },
  {
    id: 'P1.3',
    text: 'POST /new makes a channel with a read key',
    part: 'extension',
    async run({ made, channel }) {
      check(made.status === 201, `POST /new was answered ${made.status || made.body}`);
      const answer = parsed(made.body);
      for (const name of ['channel', 'writeUrl', 'readUrl', 'readKey'])
        check(textIn(answer, name) !== undefined, `${name} is missing in the answer`);
      const { url } = await channel('main');
      check(
        channelIn(textIn(answer, 'writeUrl')) === channelIn(url),
        'writeUrl is not the address of the channel',
      );
    },
  },
  {
    id: 'P1.4',
    text: 'POST /new {"open": true} makes a channel without a key',
    part: 'extension',
    async run({ makeChannel, base, listen }) {
      const made = await makeChannel({ open: true });
      check(made.status === 201, `it was answered ${made.status || made.body}`);
      const answer = parsed(made.body);
      check(fieldIn(answer, 'readKey') === null, 'readKey is not null');
      await listen({ url: `${base}/${textIn(answer, 'channel')}`, key: null, access: {} });
    },
  },
  {
    id: 'P1.5',
    text: 'POST /new refuses what it does not understand',
    part: 'extension',
    async run({ makeChannel }) {
      for (const request of [[], { open: 'yes' }, { open: true, readKey: true }])
        checkCode(await makeChannel(request), 400, 'bad-request');
    },
  },
  {
    id: 'P1.6',
    text: 'a channel that nobody made is 404',
    part: 'extension',
    async run({ send, open, base }) {
      const url = `${base}/${randomUUID()}`;
      checkCode(await send(url, jsonDelivery({})), 404, 'unknown-channel');
      checkCode(await open(url), 404, 'unknown-channel');
    },
  },
  {
    id: 'P1.7',
    text: 'a create key, where the server asks for one',
    part: 'extension',
    async run({ makeChannel, createKey }) {
      if (createKey === null) throw new NotOffered('channels are made without a key');
      checkCode(await makeChannel({}, {}), 401, 'create-key-needed');
      checkCode(await makeChannel({}, { authorization: `Bearer ${randomUUID()}` }), 401, 'create-key-needed');
    },
  },
];

const rights: readonly Row[] = [
  {
    id: 'P5.1',
    text: 'reading needs the key of the channel, writing needs none',
    part: 'extension',
    async run(kit) {
      const { url } = await kit.keyed('main');
      const other = await kit.keyed('other');
      for (const headers of [{}, other.access, { authorization: 'Bearer wrong' }]) {
        const refused = await kit.open(url, headers);
        checkCode(refused, 401, 'key-needed');
        check(refused.header('www-authenticate') === 'Bearer', 'there is no WWW-Authenticate: Bearer');
        const status = await kit.send(`${url}/status`, { method: 'GET', headers });
        checkCode(status, 401, 'key-needed');
        checkCode(await kit.send(`${url}/cursor?subscriber=a&position=a.1`, { headers }), 401, 'key-needed');
      }
      const taken = await kit.send(url, jsonDelivery({}));
      check(isTaken(taken), `a post without a key was answered ${taken.status}`);
    },
  },
  {
    id: 'P5.2',
    text: 'the key is taken from either header, and never from the address',
    part: 'extension',
    async run(kit) {
      const { url, key } = await kit.keyed('main');
      await kit.listen({ url, key, access: { 'x-svc-relay-key': key } });
      await kit.listen({ url, key, access: { authorization: `bearer ${key}` } });
      for (const name of ['key', 'readKey', 'token', 'access_token'])
        checkCode(await kit.open(`${url}?${name}=${key}`), 401, 'key-needed');
    },
  },
];

const limits: readonly Row[] = [
  {
    id: 'P6.1',
    text: 'refusals are JSON with error and code',
    part: 'extension',
    async run({ send, channel }) {
      const { url, access } = await channel('main');
      const refusals = [
        await send(`${url}x`, jsonDelivery({})),
        await send(url, { method: 'PUT' }),
        await send(`${url}/cursor`, { headers: access }),
      ];
      for (const { status, body } of refusals) {
        const refusal = parsed(body);
        const isComplete = textIn(refusal, 'error') !== undefined && textIn(refusal, 'code') !== undefined;
        check(isComplete, `a ${status} has no error and code`);
      }
    },
  },
  {
    id: 'P6.2',
    text: '25 MiB are taken, one byte more is 413',
    part: 'extension',
    async run({ send, channel }) {
      const { url } = await channel('large');
      const headers = deliveryHeaders();
      const body = Buffer.alloc(MAX_BODY_BYTES + 1, 'x');
      const most = await send(url, { headers, body: body.subarray(1) });
      check(most.status === 200, `25 MiB were answered ${most.status || most.body}`);
      checkCode(await send(url, { headers, body }), 413, 'too-large');
      checkCode(await send(url, { headers, body, sending: 'chunked' }), 413, 'too-large');
    },
  },
  {
    id: 'P6.3',
    text: 'a sender that sends too much is answered 429 with Retry-After',
    part: 'extension',
    run: tooManyPosts,
  },
];

export const rows: readonly Row[] = [
  ...channels,
  ...publishing,
  ...streams,
  ...resuming,
  ...rights,
  ...limits,
  ...guarantees,
];

/** A bounded burst: a server that accepts all of it has no relevant limit. */
async function tooManyPosts(kit: Kit): Promise<string> {
  const MOST = 2_000;
  const AT_ONCE = 32;
  const { url } = await kit.channel('burst');
  let sent = 0;
  let refused: Answer | undefined;
  const sender = async (): Promise<void> => {
    while (sent < MOST && refused === undefined && kit.timeLeftMs() > 1) {
      sent += 1;
      const answer = await kit.sendOnce(url, jsonDelivery({}));
      if (!isTaken(answer)) refused ??= answer;
    }
  };
  await Promise.all(range(1, AT_ONCE).map(sender));
  if (refused === undefined) throw new NotOffered(`${sent} posts at once, none refused`);
  checkCode(refused, 429, 'rate-limited');
  const seconds = refused.header('retry-after');
  check(/^[1-9]\d*$/.test(seconds ?? ''), `Retry-After is ${seconds}`);
  return `after about ${sent} posts`;
}

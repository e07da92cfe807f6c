// The rows about an open stream: its frames, its heartbeat, slow readers.
import { positionInReady, RELAY_HEADER } from '@svc/contract/relay/relay-headers';
import {
  checkNumbers,
  deliveriesIn,
  isObject,
  isTaken,
  jsonDelivery,
  type Kit,
  MIB,
  NotOffered,
  parsed,
  type Row,
  range,
} from './kit.ts';
import { check, type Frame } from './wire.ts';

export const streams: readonly Row[] = [
  {
    id: 'P3.1',
    text: 'Accept: text/event-stream opens a stream, whose first frame is ready',
    part: 'public',
    async run({ channel, listen }) {
      const { frames } = await listen(await channel('main'));
      check(frames[0]?.event === 'ready', `the first frame is ${frames[0]?.event ?? 'a delivery'}`);
      check(isObject(parsed(frames[0].data)), 'the data of ready is not a JSON object');
    },
  },
  {
    id: 'P3.2',
    text: 'without it there is a page, which shows no delivery',
    part: 'public',
    async run(kit) {
      const series = kit.series(await kit.channel('main'));
      await series.post(1);
      const page = await kit.send(series.channel.url, { method: 'GET', headers: { accept: 'text/html' } });
      const type = page.header('content-type') ?? 'no content type';
      check(page.status === 200 && type.startsWith('text/html'), `answered ${page.status} with ${type}`);
      check(!page.body.includes(series.tag), 'the page shows a delivery');
    },
  },
  {
    id: 'P3.3',
    text: 'a delivery is a frame with an id and without an event line',
    part: 'public',
    async run(kit) {
      const series = kit.series(await kit.channel('main'));
      const reader = await kit.listen(series.channel);
      await series.post(1);
      const frame = await reader.until(
        (frames) => frames.find(({ data }) => data.includes(series.tag)),
        'the delivery',
      );
      check(frame.event === undefined, `it has the event line ${frame.event}`);
      check(frame.id !== undefined, 'it has no id');
      check(isObject(parsed(frame.data)), 'its data is not a JSON object');
    },
  },
  {
    id: 'P3.4',
    text: 'every reader of the channel gets every delivery, and none of another channel',
    part: 'public',
    async run(kit) {
      const series = kit.series(await kit.channel('main'));
      const other = kit.series(await kit.channel('other'));
      const readers = [await kit.listen(series.channel), await kit.listen(series.channel)];
      await other.post(1);
      await series.post(1, 5);
      for (const reader of readers) {
        checkNumbers(await series.upTo(reader, 5), range(1, 5));
        const strange = reader.frames.some(({ data }) => data.includes(other.tag));
        check(!strange, 'a delivery of another channel came');
      }
      return '2 readers';
    },
  },
  {
    id: 'P3.5',
    text: 'deliveries that were sent one after another come in this order',
    part: 'public',
    async run(kit) {
      const series = kit.series(await kit.channel('main'));
      const reader = await kit.listen(series.channel);
      await series.post(1, 50);
      checkNumbers(await series.upTo(reader, 50), range(1, 50));
      return '50 deliveries';
    },
  },
  {
    id: 'P3.6',
    text: 'a reader that does not read holds up nobody',
    part: 'public',
    async run(kit) {
      const { answered, others } = await slowReader(kit);
      check(answered === SLOW_POSTS, `${answered} of ${SLOW_POSTS} posts were taken`);
      checkNumbers(others, range(1, SLOW_POSTS));
      return `${SLOW_POSTS / 2} MiB waited for it`;
    },
  },
  {
    id: 'P3.7',
    text: 'a heartbeat every 30 s, or as announced',
    part: 'public',
    async run({ quiet, pingSeconds, timeLeftMs, beginRow }) {
      const withinMs = pingSeconds * 1000 + timeLeftMs();
      beginRow(withinMs);
      const ping = await quiet.until(
        (frames) => frames.find(({ event }) => event === 'ping'),
        'a ping',
        withinMs,
      );
      check(isObject(parsed(ping.data)), 'the data of ping is not a JSON object');
      return `${pingSeconds} s`;
    },
  },
  {
    id: 'P3.8',
    text: 'the extension is announced in the head of every stream',
    part: 'extension',
    async run({ quiet }) {
      const announced = quiet.header(RELAY_HEADER);
      if (announced === undefined) throw new NotOffered('no X-Svc-Relay');
      check(/^1(; ping=[1-9]\d{0,2})?$/.test(announced), `X-Svc-Relay is ${announced.slice(0, 40)}`);
      return announced;
    },
  },
  {
    id: 'P3.9',
    text: 'ready has the position and the time to reconnect',
    part: 'extension',
    async run({ channel, listen }) {
      const reader = await listen(await channel('main'));
      const ready = reader.frames.find(({ event }) => event === 'ready');
      check(positionInReady(ready?.data ?? '') !== null, 'ready has no position');
      check(reader.retryMs() !== undefined, 'there is no retry line');
    },
  },
  {
    id: 'P3.10',
    text: 'ready, ping and gap have no id',
    part: 'extension',
    async run({ channel, listen, quiet }) {
      const reader = await listen(await channel('main'), '', { 'last-event-id': 'conform.1' });
      checkIds([...reader.frames, ...quiet.frames]);
      checkIds([await reader.until((frames) => frames.find(({ event }) => event === 'gap'), 'a gap')]);
    },
  },
  {
    id: 'P3.11',
    text: 'a reader that was slow loses nothing',
    part: 'extension',
    async run(kit) {
      const { slow, cut } = await slowReader(kit);
      checkNumbers(slow, range(1, SLOW_POSTS));
      return cut ? 'disconnected and resumed' : 'caught up on the same connection';
    },
  },
];

/** 24 MiB: more than the buffers on both sides can hold. */
const SLOW_POSTS = 48;

type Slowness = { answered: number; others: number[]; slow: number[]; cut: boolean };

function slowReader(kit: Kit): Promise<Slowness> {
  return kit.once('slow reader', async () => {
    const series = kit.series(await kit.channel('large'));
    const filler = 'x'.repeat(MIB / 2);
    const slow = await kit.listen(series.channel);
    const other = await kit.listen(series.channel);
    slow.pause();
    let answered = 0;
    for (const number of range(1, SLOW_POSTS)) {
      const delivery = jsonDelivery({ conform: series.tag, number, filler });
      if (isTaken(await kit.send(series.channel.url, delivery))) answered += 1;
    }
    const others = await series.upTo(other, SLOW_POSTS);
    slow.resume();
    await slow.until(
      () => slow.ended() || series.numbersIn(slow).includes(SLOW_POSTS) || undefined,
      'the slow reader',
    );
    const got = series.numbersIn(slow);
    if (!slow.ended()) return { answered, others, slow: got, cut: false };
    const resumed = await kit.listen(series.channel, '', {
      'last-event-id': deliveriesIn(slow).at(-1)?.id ?? '',
    });
    await series.post(SLOW_POSTS + 1);
    const rest = await series.upTo(resumed, SLOW_POSTS + 1);
    return { answered, others, slow: [...got, ...rest.slice(0, -1)], cut: true };
  });
}

function checkIds(frames: readonly Frame[]): void {
  const wrong = frames.find(({ event, id }) => /^(?:ready|ping|gap)$/.test(event ?? '') && id !== undefined);
  check(wrong === undefined, `${wrong?.event} has an id`);
}

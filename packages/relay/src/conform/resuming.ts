// The rows about resuming, guarantees and the status. A row that expects nothing to arrive posts a last delivery and
// checks what came before it: no row waits for a time to pass.
import { isRelayPosition, readGap } from '@svc/contract/relay/relay-headers';
import {
  type Channel,
  checkCode,
  checkNumbers,
  deliveriesIn,
  fieldIn,
  type Kit,
  parsed,
  type Row,
  range,
  type Series,
  textIn,
} from './kit.ts';
import { type Answer, check, type Reader } from './wire.ts';

export const resuming: readonly Row[] = [
  {
    id: 'P4.1',
    text: 'ids are positions, and their numbers grow',
    part: 'extension',
    async run(kit) {
      const series = kit.series(await kit.channel('main'));
      const reader = await kit.listen(series.channel);
      await series.post(1, 10);
      await series.upTo(reader, 10);
      const ids = deliveriesIn(reader).map(({ id }) => id);
      for (const id of ids) check(isRelayPosition(id), `the id ${id?.slice(0, 40)} is no position`);
      const numbers = ids.map((id) => Number(id?.split('.')[1]));
      check(
        numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? 0)),
        `the numbers do not grow: ${numbers.join(' ')}`,
      );
    },
  },
  {
    id: 'P4.2',
    text: 'Last-Event-ID: everything after it follows, in order, each once',
    part: 'extension',
    async run(kit) {
      const series = kit.series(await kit.channel('main'));
      const first = await kit.listen(series.channel);
      await series.post(1, 10);
      await series.upTo(first, 10);
      first.close();
      await series.post(11, 20);
      const second = await kit.listen(series.channel, '', after(series, first, 5));
      await series.post(21);
      checkNumbers(await series.upTo(second, 21), range(6, 21));
    },
  },
  {
    id: 'P4.3',
    text: 'connections that are cut lose nothing',
    part: 'extension',
    run: cutConnections,
  },
  {
    id: 'P4.4',
    text: 'since=oldest, since=new, since=<position>; Last-Event-ID wins',
    part: 'extension',
    async run(kit) {
      const series = kit.series(await kit.channel('other'));
      const ids = await series.post(1, 4);
      const [, second = '', third = ''] = ids;
      const starts = [
        ['?since=oldest', {}, 1],
        [`?since=${second}`, {}, 3],
        ['?since=oldest', { 'last-event-id': third }, 4],
        ['?since=new', {}, 5],
      ] as const;
      const readers: Reader[] = [];
      for (const [query, headers] of starts) readers.push(await kit.listen(series.channel, query, headers));
      await series.post(5);
      for (const [index, [query, , begin]] of starts.entries()) {
        const reader = readers[index];
        if (reader !== undefined) checkNumbers(await series.upTo(reader, 5), range(begin, 5), query);
      }
    },
  },
  {
    id: 'P4.5',
    text: 'a position of another store gets a gap, then what is kept',
    part: 'extension',
    async run(kit) {
      const series = kit.series(await kit.channel('other'));
      await series.post(1, 3);
      const requested = 'conform.1';
      const reader = await kit.listen(series.channel, '', { 'last-event-id': requested });
      await series.post(4);
      checkNumbers(await series.upTo(reader, 4), range(1, 4));
      const at = reader.frames.findIndex(({ event }) => event === 'gap');
      const before = reader.frames.slice(0, at).some(({ event }) => event === undefined);
      check(at >= 0 && !before, at < 0 ? 'no gap was reported' : 'the gap came after deliveries');
      const gap = readGap(reader.frames[at]?.data ?? '');
      check(gap.requested === requested, `requested is ${gap.requested}`);
      check(gap.oldest !== null && isRelayPosition(gap.oldest), `oldest is ${gap.oldest}`);
    },
  },
  {
    id: 'P4.6',
    text: 'a Last-Event-ID that is no position begins like a new reader',
    part: 'extension',
    async run(kit) {
      const series = kit.series(await kit.channel('main'));
      await series.post(1);
      const reader = await kit.listen(series.channel, '', { 'last-event-id': '17' });
      await series.post(2);
      checkNumbers(await series.upTo(reader, 2), [2]);
      const gap = reader.frames.some(({ event }) => event === 'gap');
      check(!gap, 'a gap was reported');
    },
  },
  {
    id: 'P4.7',
    text: 'a named subscriber goes on where it was',
    part: 'extension',
    async run(kit) {
      const series = kit.series(await kit.channel('main'));
      const query = `?subscriber=${series.tag}`;
      const first = await kit.listen(series.channel, query);
      await series.post(1, 3);
      await series.upTo(first, 3);
      first.close();
      await cursorReaches(kit, series, first, 3);
      await series.post(4, 5);
      const second = await kit.listen(series.channel, query);
      checkNumbers(await series.upTo(second, 5), [4, 5]);
    },
  },
  {
    id: 'P4.8',
    text: 'with ack=1 the cursor moves by POST /:channel/cursor only',
    part: 'extension',
    async run(kit) {
      const series = kit.series(await kit.channel('main'));
      const query = `?subscriber=${series.tag}&ack=1`;
      const first = await kit.listen(series.channel, query);
      const [id = ''] = await series.post(1, 3);
      await series.upTo(first, 3);
      const moved = await moveCursor(kit, series.channel, `${query}&position=${id}`);
      check(moved.status === 204, `POST /:channel/cursor was answered ${moved.status || moved.body}`);
      first.close();
      const second = await kit.listen(series.channel, query);
      checkNumbers(await series.upTo(second, 3), [2, 3]);
    },
  },
  {
    id: 'P4.9',
    text: 'since and subscriber are checked',
    part: 'extension',
    async run(kit) {
      const channel = await kit.channel('main');
      const wrong = [
        ['?since=yesterday', 'bad-position'],
        ['?subscriber=a%20b', 'bad-subscriber'],
      ] as const;
      for (const [query, code] of wrong)
        checkCode(await kit.open(`${channel.url}${query}`, channel.access), 400, code);
      checkCode(await moveCursor(kit, channel, '?subscriber=a%20b&position=a.1'), 400, 'bad-subscriber');
      checkCode(await moveCursor(kit, channel, '?subscriber=a&position=17'), 400, 'bad-position');
    },
  },
];

export const guarantees: readonly Row[] = [
  {
    id: 'P7.1',
    text: 'what is posted while nobody reads is kept',
    part: 'extension',
    async run(kit) {
      const series = kit.series(await kit.channel('other'));
      await series.post(1, 10);
      const reader = await kit.listen(series.channel, '?since=oldest');
      await series.post(11);
      checkNumbers(await series.upTo(reader, 11), range(1, 11));
      return '10 deliveries';
    },
  },
  {
    id: 'P7.2',
    text: 'every reader sees the same order and the same ids, live or later',
    part: 'extension',
    async run(kit) {
      const series = kit.series(await kit.channel('other'));
      const live = await kit.listen(series.channel);
      await Promise.all(range(1, 20).map((number) => series.post(number)));
      await live.until(() => series.numbersIn(live).length >= 20 || undefined, '20 deliveries');
      const later = await kit.listen(series.channel, '?since=oldest&raw=1');
      await series.post(21);
      const order = await series.upTo(live, 21);
      checkNumbers(await series.upTo(later, 21), order);
      for (const number of order)
        check(
          series.frameOf(live, number)?.id === series.frameOf(later, number)?.id,
          'a delivery has another id for another reader',
        );
      return '20 posts at once';
    },
  },
  {
    id: 'P8.1',
    text: 'the status shows what is stored and how far each name is',
    part: 'extension',
    async run(kit) {
      const series = kit.series(await kit.channel('other'));
      const name = `?subscriber=${series.tag}`;
      const [first = ''] = await series.post(1, 4);
      const moved = await moveCursor(kit, series.channel, `${name}&position=${first}`);
      check(moved.status === 204, `POST /:channel/cursor was answered ${moved.status || moved.body}`);
      const status = await statusOf(kit, series.channel);
      for (const field of ['stored', 'bytes'])
        check(Number(fieldIn(status, field)) > 0, `${field} is ${JSON.stringify(fieldIn(status, field))}`);
      for (const field of ['oldest', 'newest'])
        check(isRelayPosition(textIn(status, field)), `${field} is not a position`);
      check(typeof fieldIn(status, 'open') === 'boolean', 'open is missing');
      check(!Number.isNaN(Date.parse(textIn(status, 'createdAt') ?? '')), 'createdAt is not a time');
      const lag = fieldIn(namedIn(status, series.tag), 'lag');
      check(lag === 3, `lag is ${JSON.stringify(lag)} instead of 3`);
    },
  },
];

/** Cuts the connection while deliveries arrive, and stays away while others are posted, five times. */
async function cutConnections(kit: Kit): Promise<string> {
  const CUTS = 5;
  const HALF = 20;
  const series = kit.series(await kit.channel('main'));
  let reader = await kit.listen(series.channel);
  const got: number[] = [];
  for (let round = 0; round < CUTS; round += 1) {
    const first = round * 2 * HALF + 1;
    const current = reader;
    const seen = current
      .until(() => series.numbersIn(current).length >= HALF / 2 || undefined, 'deliveries')
      .then(() => current.close());
    await Promise.all([series.post(first, first + HALF - 1), seen]);
    await series.post(first + HALF, first + 2 * HALF - 1);
    got.push(...series.numbersIn(current));
    reader = await kit.listen(series.channel, '', {
      'last-event-id': deliveriesIn(current).at(-1)?.id ?? '',
    });
  }
  const last = CUTS * 2 * HALF + 1;
  await series.post(last);
  got.push(...(await series.upTo(reader, last)));
  const lost = range(1, last).filter((number) => !got.includes(number)).length;
  check(lost === 0, `${lost} of ${last} lost in ${CUTS} cuts`);
  checkNumbers(got, range(1, last));
  return `${last} deliveries, ${CUTS} cuts`;
}

/** To resume after a delivery that the reader has received. */
function after(series: Series, reader: Reader, number: number): Record<string, string> {
  return { 'last-event-id': series.frameOf(reader, number)?.id ?? '' };
}

function moveCursor(kit: Kit, { url, access }: Channel, query: string): Promise<Answer> {
  return kit.send(`${url}/cursor${query}`, { headers: access });
}

async function statusOf(kit: Kit, { url, access }: Channel): Promise<unknown> {
  const answer = await kit.send(`${url}/status`, { method: 'GET', headers: access });
  check(answer.status === 200, `the status was answered ${answer.status}`);
  return parsed(answer.body);
}

function namedIn(status: unknown, name: string): unknown {
  const named = fieldIn(fieldIn(status, 'subscribers'), 'named');
  return Array.isArray(named) ? named.find((one) => textIn(one, 'subscriber') === name) : undefined;
}

/** The server saves a cursor some time after it has sent the delivery. */
async function cursorReaches(kit: Kit, series: Series, reader: Reader, number: number): Promise<void> {
  const id = series.frameOf(reader, number)?.id;
  for (;;) {
    const status = await statusOf(kit, series.channel);
    if (textIn(namedIn(status, series.tag), 'position') === id) return;
    check(kit.timeLeftMs() > 1, 'the cursor was not saved');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

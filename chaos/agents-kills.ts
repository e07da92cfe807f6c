// Agents that svc talks to, and a daemon that is killed with -9 in the middle of their turns. Each ticket gets messages
// and asks for permissions; a person answers at the API and repeats each request until it is accepted.
// At the end every prompt and every answer has reached its agent exactly once, every request for a permission was shown
// and answered, and the log has each turn exactly once.
import { setTimeout as sleep } from 'node:timers/promises';
import { createStartKiller } from '../packages/testkit/src/daemon/server-process.ts';
import { auditLog } from '../packages/testkit/src/log/audit-log.ts';
import { createRandom } from '../packages/testkit/src/random.ts';
import { createTail, scriptOptions } from '../packages/testkit/src/script.ts';
import { until } from '../packages/testkit/src/waiting.ts';
import { openAgentsWorld } from './agents-world.ts';
import { type Damage, scenario, unless, type Verdict } from './scenario.ts';

const options = scriptOptions({
  kills: 1_000,
  tickets: 20,
  /** The most prompts and answers that agents get in one life of the daemon. */
  progress: 12,
  seed: 1,
  sabotage: false,
});
/** Messages of a ticket that wait or run. */
const MOST_WAITING = 3;
const MOST_CHUNKS = 8;
const LONGEST_LIFE_MS = 10_000;
/** About as long as the agents' own steps. */
const PAUSE_MS = 40;

type Sent = { name: string; text: string; chunks: number };
type Driven = {
  ticket: string;
  sent: Sent[];
  /** Requests that were shown as open. */
  seen: Set<string>;
  /** What the agent has written and what it got, by its own files. */
  wrote: { turns: number; requests: string[] };
  got: { prompts: string[]; answers: string[] };
  look: () => void;
};

const random = createRandom(options.seed);
const names = Array.from({ length: options.tickets }, (_, index) => `A-${index + 1}`);
const world = await openAgentsWorld('chaos-agents', Object.fromEntries(names.map((name) => [name, {}])));
const { daemon } = world;
const killWhileStarting = createStartKiller(world.home, random);
const driven = names.map(createDriven);
const kills = { made: 0, starting: 0, inTurn: 0, open: 0 };
const isOver = { sending: false, answering: false };
const problems: string[] = [];

daemon.start();
await daemon.ready();
await world.startRun();
for (const { ticket } of driven) await world.untilState(ticket, 'idle');
await scenario({
  title: `${options.tickets} tickets, ${options.kills} kills, seed ${options.seed}`,
  world,
  async load() {
    const answering = answerAll();
    await Promise.all(driven.map(sendAll));
    await until(() => driven.every(({ sent, wrote, look }) => (look(), wrote.turns > sent.length))).catch(
      () => problems.push('not every message was worked on'),
    );
    for (const { ticket } of driven)
      await world.untilState(ticket, 'idle').catch(() => problems.push(`${ticket} is not shown as idle`));
    isOver.answering = true;
    await answering;
  },
  async disturb() {
    await killAndRestart();
    isOver.sending = true;
  },
  verdict,
  sabotage: options.sabotage && damages,
  stop: daemon.stop,
});

async function verdict(seconds: number): Promise<Verdict> {
  problems.push(...(await daemon.settle()));
  const audit = await auditLog(world.home.eventsDir);
  problems.push(...audit.problems);
  const found = judge();
  const prompts = driven.reduce((sum, { sent }) => sum + sent.length, 0);
  const requests = driven.reduce((sum, { wrote }) => sum + wrote.requests.length, 0);
  const { made, inTurn, open, starting } = kills;
  return {
    figures: [
      `${seconds.toFixed(1)} s, ${made} kills: ${inTurn} in the middle of a turn, ${open} with an open permission, ${starting} while the daemon started; ${audit.lines} lines`,
      `prompts ${prompts} lost ${found.lost.length} twice ${found.twice.length}; permissions ${requests} lost ${found.unanswered.length} answered twice ${found.answeredTwice.length}; log differences ${found.log.length}, other problems ${problems.length}`,
    ],
    problems: [
      ...problems,
      ...found.all,
      ...unless(
        made === options.kills && inTurn > 0 && open > 0,
        `not ${options.kills} kills, or none in the middle of a turn or with an open permission`,
      ),
    ],
  };
}

function createDriven(ticket: string): Driven {
  const journal = createTail(world.journalFile(ticket));
  const received = createTail(world.receivedFile(ticket));
  const [wrote, got]: [Driven['wrote'], Driven['got']] = [
    { turns: 0, requests: [] },
    { prompts: [], answers: [] },
  ];
  return {
    ticket,
    sent: [],
    seen: new Set(),
    wrote,
    got,
    look() {
      for (const line of journal()) {
        if (line.includes('"stopReason"')) wrote.turns += 1;
        if (line.includes('session/request_permission'))
          wrote.requests.push(JSON.stringify(JSON.parse(line).id));
      }
      for (const line of received()) {
        const [, kind, rest = ''] = /^(prompt|answer) (.*)$/.exec(line) ?? [];
        if (kind === 'prompt') got.prompts.push(rest);
        if (kind === 'answer') got.answers.push(JSON.stringify(rest.split(' ')[0]));
      }
    },
  };
}

async function sendAll({ ticket, sent, wrote, look }: Driven): Promise<void> {
  for (let count = 1; !isOver.sending; count += 1) {
    const name = `${ticket}/${count}`;
    const chunks = 1 + random.below(MOST_CHUNKS);
    const text = `work ${name} ${chunks} ${random.below(3)}`;
    sent.push({ name, text, chunks });
    await world.message(ticket, text, name);
    // Now and then once more, as a client does that missed the answer.
    if (random.chance(0.1)) await world.message(ticket, text, name);
    const most = 1 + random.below(MOST_WAITING);
    for (look(); sent.length + 1 - wrote.turns >= most && !isOver.sending; look()) await sleep(20);
  }
}

async function answerAll(): Promise<void> {
  const answered = new Set<string>();
  for (; !isOver.answering; await sleep(50)) {
    const workers = (await daemon.board())?.workers ?? [];
    const open = workers.flatMap(({ ticket, agent }) =>
      (agent?.open ?? []).map(({ request }) => ({ ticket, request })),
    );
    for (const { ticket, request } of open) {
      const name = `${ticket} ${request}`;
      if (answered.has(name)) continue;
      answered.add(name);
      driven.find((one) => one.ticket === ticket)?.seen.add(request);
      void answerOne(ticket, request);
    }
  }
}

async function answerOne(ticket: string, request: string): Promise<void> {
  const kind = random.pick(['allow_once', 'reject_once']);
  for (let times = random.chance(0.1) ? 2 : 1; times > 0; times -= 1)
    await world
      .answer(ticket, request, kind)
      .catch((error: unknown) => problems.push(`${ticket} ${request}: ${String(error)}`));
}

/** Some during the daemon's start, the others at any time after it. */
async function killAndRestart(): Promise<void> {
  while (kills.made < options.kills) {
    await daemon.ready();
    await untilProgress(random.below(options.progress + 1));
    if (driven.some(({ wrote, got }) => got.prompts.length > wrote.turns)) kills.inTurn += 1;
    if (driven.some(({ wrote, got }) => wrote.requests.length > got.answers.length)) kills.open += 1;
    await daemon.kill();
    kills.made += 1;
    if (kills.made % 5 === 2 && kills.made < options.kills) {
      await killWhileStarting(() => daemon.start());
      kills.made += 1;
      kills.starting += 1;
    }
    daemon.start();
  }
  await daemon.ready();
}

/** By what agents got, not by time: a busy machine needs longer to get anywhere. */
async function untilProgress(wanted: number): Promise<void> {
  const total = (): number =>
    driven.reduce((sum, { got, look }) => {
      look();
      return sum + got.prompts.length + got.answers.length;
    }, 0);
  const [before, since] = [total(), performance.now()];
  while (total() - before < wanted && performance.now() - since < LONGEST_LIFE_MS) await sleep(5);
  await sleep(random.below(PAUSE_MS));
}

/** What was promised and did not happen. */
function judge() {
  const found = { lost: [], twice: [], unanswered: [], answeredTwice: [], log: [] } as Record<
    'lost' | 'twice' | 'unanswered' | 'answeredTwice' | 'log',
    string[]
  >;
  const events = Map.groupBy(world.events(), ({ scope }) => scope.ticket ?? '');
  for (const { ticket, sent, seen, wrote, got } of driven) {
    const times = (list: readonly string[], one: string): number =>
      list.filter((other) => other === one).length;
    for (const { text } of sent) {
      const count = times(got.prompts, text);
      if (count === 0) found.lost.push(`${ticket}: lost: ${text}`);
      if (count > 1) found.twice.push(`${ticket}: ${count} times: ${text}`);
    }
    const order = got.prompts.slice(1).join('\n');
    if (order !== sent.map(({ text }) => text).join('\n'))
      found.log.push(`${ticket}: prompts in another order`);
    for (const request of wrote.requests) {
      const count = times(got.answers, request);
      if (count === 0 || !seen.has(request)) found.unanswered.push(`${ticket}: not answered: ${request}`);
      if (count > 1) found.answeredTwice.push(`${ticket}: ${count} answers: ${request}`);
    }
    const logged = (events.get(ticket) ?? []).map(({ event, detail }) => {
      const { turn, text, request } = detail as {
        turn?: number;
        text?: string;
        request?: string | { request: string };
      };
      const id = typeof request === 'object' ? request.request : request;
      return { event, key: text ?? id ?? String(turn), turn };
    });
    const expect = (event: string, key: string): void => {
      const count = logged.filter((one) => one.event === event && one.key === key).length;
      if (count !== 1) found.log.push(`${ticket}: ${count} lines ${event} ${key}`);
    };
    // A message that goes on after a request has one line for each part.
    const said = logged.filter(({ event }) => event === 'agent.message').map(({ key }) => key);
    const chunksOf = ({ name, chunks }: Sent) =>
      Array.from({ length: chunks }, (_, index) => `${name}.${index} `);
    if (said.join('') !== sent.flatMap(chunksOf).join(''))
      found.log.push(`${ticket}: other messages in the log: ${said.join('')}`);
    for (const { text } of sent) expect('agent.turn.started', text);
    for (const { event, turn } of logged)
      if (event === 'agent.turn.started') expect('agent.turn.ended', String(turn));
    for (const request of wrote.requests)
      for (const event of ['agent.request.opened', 'agent.request.answered']) expect(event, request);
  }
  return { ...found, all: Object.values(found).flat() };
}

/** A prompt that came twice, one that is missing, an answer that came twice, and a request that was not shown. */
function* damages(): Generator<Damage> {
  const [first] = driven;
  const answered = driven.find(({ got }) => got.answers.length > 0);
  if (first === undefined || answered === undefined) return;
  const only = (list: 'twice' | 'lost' | 'answeredTwice' | 'unanswered'): string =>
    `${judge()[list].length} ${list}`;
  const [, prompt = ''] = first.got.prompts;
  first.got.prompts.push(prompt);
  yield ['a prompt twice', only('twice'), /^1 /];
  first.got.prompts = first.got.prompts.filter((one) => one !== prompt);
  yield ['a prompt lost', only('lost'), /^1 /];
  const [answer = ''] = answered.got.answers;
  answered.got.answers.push(answer);
  yield ['an answer twice', only('answeredTwice'), /^1 /];
  answered.seen.delete(answer);
  yield ['a request not shown', only('unanswered'), /^1 /];
}

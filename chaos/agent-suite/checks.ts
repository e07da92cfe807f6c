// What svc must be able to do with every agent, each tried with the real program. Every check starts with an idle agent; if
// one fails, the next one gets a new agent.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConversationItem } from '../../packages/monitor/src/features/agents/schemas.ts';
import type { Asked } from '../../packages/testkit/src/models/streaming-models.ts';
import { secondsSince } from '../../packages/testkit/src/script.ts';
import { WAIT_MS } from '../../packages/testkit/src/waiting.ts';
import type { Decision, Driver, Look } from './driver.ts';
import type { Program } from './programs.ts';
import { MARKER, plainText, slowText } from './replies.ts';

export const capabilities = [
  'start',
  'edit with diff',
  'permission allowed',
  'permission rejected',
  'message',
  'cancel',
  'agent killed, resumed',
  'daemon killed, completed',
] as const;
type Capability = (typeof capabilities)[number];

type Outcome = { ok: boolean; note: string };
export type AgentResult = {
  name: string;
  version: string;
  outcomes: Record<Capability, Outcome>;
  mode: string | null;
  tokens: boolean;
  cost: boolean;
  context: boolean;
};

const LONGEST_MS = 2 * WAIT_MS;

type World = {
  program: Program;
  asked: readonly Asked[];
  start: () => Promise<Driver>;
  /** Lets the model finish its slow text. Used by the last check, once. */
  release: () => void;
};

export async function checkAgent(world: World, keep?: Parameters<Driver['end']>[0]): Promise<AgentResult> {
  const { program, asked, release } = world;
  let driver: Driver | undefined;
  let startedAt = 0;
  let last: Look | undefined;
  const outcomes: Partial<Record<Capability, Outcome>> = {};

  async function fresh(): Promise<Driver> {
    if (driver !== undefined) return driver;
    startedAt = Date.now();
    driver = await world.start();
    await untilLook(driver, 'the first turn', (look) => turnsIn(look) === 1 && look.agent.state === 'idle');
    return driver;
  }

  async function check(
    name: Capability,
    work: (driver: Driver) => Promise<string | undefined>,
  ): Promise<void> {
    const started = performance.now();
    const outcome: Outcome = await fresh()
      .then(work)
      .then(
        (note) => ({ ok: true, note: note ?? '' }),
        (error: Error) => ({ ok: false, note: error.message }),
      );
    outcomes[name] = outcome;
    if (!outcome.ok) {
      await driver?.end();
      driver = undefined;
    }
    const said = [outcome.ok ? 'ok' : 'FAILED', outcome.note].filter(Boolean).join(': ');
    console.log(`${program.name}: ${name}: ${said} (${secondsSince(started)} s)`);
  }

  async function untilLook(
    { look }: Driver,
    what: string,
    holds: (look: Look) => boolean,
    { everyMs = 50, mayHaveEnded = false } = {},
  ): Promise<Look> {
    for (const deadline = performance.now() + LONGEST_MS; ; await sleep(everyMs)) {
      last = await look();
      if (holds(last)) return last;
      const { state, problem } = last.agent;
      if (state === 'ended' && !mayHaveEnded) throw new Error(`${what}: the agent ended`);
      if (performance.now() > deadline)
        throw new Error(`${what}: not within ${LONGEST_MS / 1000} s; ${problem ?? `the agent is ${state}`}`);
    }
  }

  /** Sends a text, answers every request of the agent in one way, and returns what happened until it is idle. */
  async function turn(on: Driver, text: string, kind: Decision): Promise<ConversationItem[]> {
    const before = await on.look();
    await on.send(text);
    return finish(on, before, kind);
  }

  async function finish(on: Driver, before: Look, kind: Decision): Promise<ConversationItem[]> {
    for (;;) {
      const look = await untilLook(
        on,
        'the end of the turn',
        (one) => one.agent.open.length > 0 || (turnsIn(one) > turnsIn(before) && one.agent.state === 'idle'),
      );
      if (look.agent.open.length === 0) return newIn(before, look);
      await on.answer(kind);
      await untilLook(on, 'the end of the request', ({ agent }) => agent.open.length === 0);
    }
  }

  await check('start', async (on) => {
    const { agent, items } = await on.look();
    const { mode } = agent;
    expect(program.mode === null || mode === program.mode, `its mode is ${mode}, not ${program.mode}`);
    expect(textOf(items) === plainText, `it wrote ${JSON.stringify(textOf(items))}`);
  });
  await check('edit with diff', async (on) => {
    const items = await turn(on, `${MARKER}edit`, 'allow_once');
    const diffs = items.flatMap((item) => (item.kind === 'tool' ? item.diffs : []));
    expect(read(on.cwd, 'a.txt').includes('TWO'), 'the file was not changed');
    expect(
      diffs.some(({ path, after }) => path.endsWith('a.txt') && after.includes('TWO')),
      'there is no diff',
    );
    expect(
      items.some(({ kind }) => kind === 'request'),
      'it changed the file without asking',
    );
  });
  await check('permission allowed', async (on) => {
    const items = await turn(on, `${MARKER}command allowed`, 'allow_once');
    expect(
      items.some((item) => item.kind === 'request' && item.answer !== null),
      'it did not ask',
    );
    expect(existsSync(join(on.cwd, 'made-by-allowed')), 'the command did not run');
    const tool = items.find((item) => item.kind === 'tool');
    expect(tool?.kind === 'tool' && tool.status === 'completed', 'its tool was not completed');
  });
  await check('permission rejected', async (on) => {
    const items = await turn(on, `${MARKER}command rejected`, 'reject_once');
    expect(
      items.some((item) => item.kind === 'request' && item.answer !== null),
      'it did not ask',
    );
    expect(!existsSync(join(on.cwd, 'made-by-rejected')), 'the command ran');
    const end = items.findLast((item) => item.kind === 'turn');
    return end?.reason === 'cancelled' ? 'ends the turn' : '';
  });
  await check('message', async (on) => {
    const before = await on.look();
    await on.send(`${MARKER}command busy`);
    await untilLook(on, 'a request', ({ agent }) => agent.open.length > 0);
    await on.send(`${MARKER}second`);
    await finish(on, before, 'allow_once');
    // Between the two turns it may be idle for a moment.
    const look = await untilLook(on, 'the model to get the second message', (one) => {
      const prompts = newIn(before, one).filter(({ kind }) => kind === 'prompt');
      const isAsked = asked.some(({ prompt }) => prompt.includes(`${MARKER}second`));
      return prompts.length === 2 && one.agent.state === 'idle' && isAsked;
    });
    return turnsIn(look) - turnsIn(before) === 1 ? 'while it works' : 'when it is idle';
  });
  await check('cancel', async (on) => {
    const before = await on.look();
    await on.send(`${MARKER}slow cancelled`);
    await untilLook(on, 'five words', (look) => textOf(newIn(before, look)).includes('word-5'));
    const cancelled = performance.now();
    await on.stop();
    const look = await untilLook(on, 'the end', (one) => turnsIn(one) > turnsIn(before), { everyMs: 10 });
    const end = look.items.findLast((item) => item.kind === 'turn');
    expect(look.agent.state === 'idle', `it is ${look.agent.state}`);
    expect(end?.reason === 'cancelled', `the turn ended with ${end?.reason}`);
    return `${secondsSince(cancelled)} s`;
  });
  await check('agent killed, resumed', async (on) => {
    while (program.resumesNextMinute && minuteOf(Date.now()) === minuteOf(startedAt)) await sleep(500);
    const before = await on.look();
    await on.send(`${MARKER}slow killed`);
    await untilLook(on, 'five words', (look) => textOf(newIn(before, look)).includes('word-5'));
    await on.killAgent();
    const killed = performance.now();
    await on.send(`${MARKER}resumed`);
    const resumed = { mayHaveEnded: true };
    const look = await untilLook(
      on,
      'a turn of the resumed session',
      (one) => isDone(one, 'resumed'),
      resumed,
    );
    expect(look.agent.sessionId === before.agent.sessionId, 'it started another session');
    const question = asked.findLast(({ prompt }) => prompt.includes(`${MARKER}resumed`));
    expect((question?.earlier ?? 0) > 0, 'the model was not given the history');
    return `session/${on.how()}, ${secondsSince(killed)} s`;
  });
  await check('daemon killed, completed', async (on) => {
    const before = await on.look();
    await on.send(`${MARKER}slow survived`);
    await untilLook(on, 'five words', (look) => textOf(newIn(before, look)).includes('word-5'));
    await on.killDaemon(release);
    const look = await untilLook(on, 'the end of the turn', (one) => isDone(one, 'survived'));
    const reached = look.items.findLastIndex(({ kind }) => kind === 'prompt');
    const text = textOf(look.items.slice(reached));
    expect(text === slowText, `of ${slowText.split(' ').length} words it has ${text.split(' ').length}`);
    const prompts = look.items.filter((item) => item.kind === 'prompt' && item.text.includes('survived'));
    expect(prompts.length === 1, `the prompt was sent ${prompts.length} times`);
    return 'no word lost';
  });
  await driver?.end(keep);
  return {
    name: program.name,
    version: last?.agent.version ?? program.version,
    // Every capability was checked above.
    outcomes: outcomes as Record<Capability, Outcome>,
    mode: last?.agent.mode ?? null,
    tokens: last?.agent.tokens !== null,
    cost: last?.agent.cost !== null,
    context: last?.agent.context !== null,
  };
}

function expect(isGood: boolean, problem: string): void {
  if (!isGood) throw new Error(problem);
}

function turnsIn({ items }: Pick<Look, 'items'>): number {
  return items.filter(({ kind }) => kind === 'turn').length;
}

/** The turn of the prompt with this word has ended. */
function isDone({ agent, items }: Look, word: string): boolean {
  const prompt = items.findLastIndex((item) => item.kind === 'prompt' && item.text.includes(word));
  return prompt >= 0 && agent.state === 'idle' && turnsIn({ items: items.slice(prompt) }) > 0;
}

/** Items keep their order, and new ones come last. */
function newIn(before: Look, after: Look): ConversationItem[] {
  const known = new Set(before.items.map(({ id }) => id));
  return after.items.filter(({ id }) => !known.has(id));
}

/** The text of the last message. */
function textOf(items: readonly ConversationItem[]): string {
  const message = items.findLast(({ kind }) => kind === 'message');
  return message?.kind === 'message' ? message.text : '';
}

function read(cwd: string, name: string): string {
  return readFileSync(join(cwd, name), 'utf8');
}

const minuteOf = (time: number): number => Math.floor(time / 60_000);

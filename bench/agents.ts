// Agents that svc talks to: what many chunks a second cost the daemon, and how long a person and an agent wait for each
// other. The shipped daemon, the test kit's protocol agent, real Chromium.
// `npm run build`, then `npm run bench:agents`; `-- --agents 5 --seconds 5 --requests 5` for a quick run.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { permission } from '../chaos/agents-truth.ts';
import { openAgentsWorld } from '../chaos/agents-world.ts';
import { openChromium, openPage } from '../packages/dashboard/e2e/chromium.ts';
import type { AgentView } from '../packages/monitor/src/features/agents/api.ts';
import { cpuMicroseconds, rssMegabytes } from '../packages/testkit/src/daemon/process-figures.ts';
import {
  describeMachine,
  failUnless,
  judgeGoal,
  logLines,
  scriptOptions,
  spreadOf,
} from '../packages/testkit/src/script.ts';
import { until } from '../packages/testkit/src/waiting.ts';

const options = scriptOptions({
  agents: 30,
  'per-second': 500,
  seconds: 30,
  requests: 30,
  'goal-shown': 150,
  'goal-received': 100,
});

/** Runs in the page: the time of the first frame that shows a text, and of the last click. */
const watchPage = `
  window.addEventListener('click', () => (window.clickedAt = performance.timeOrigin + performance.now()), true);
  window.shown = (wanted) => new Promise((resolve) => {
    const hasText = () => document.body.textContent.includes(wanted);
    const report = () => requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => resolve(performance.timeOrigin + performance.now());
      channel.port2.postMessage(null);
    });
    if (hasText()) return report();
    const observer = new MutationObserver(() => {
      if (!hasText()) return;
      observer.disconnect();
      report();
    });
    observer.observe(document.body, { childList: true, subtree: true, characterData: true });
  });
`;

const tickets = Array.from({ length: options.agents }, (_, index) => `A-${index + 1}`);
const world = await openAgentsWorld('bench-agents', Object.fromEntries(tickets.map((name) => [name, {}])));
const { daemon } = world;
const over = new AbortController();
let browser: Browser | undefined;

console.log(describeMachine());
try {
  const { pid } = daemon.start();
  await daemon.ready();
  await world.startRun();
  for (const ticket of tickets) await world.untilState(ticket, 'idle');
  await measureChunks(pid);
  await measureApi();
  browser = await openChromium();
  await measureChromium(browser);
} finally {
  over.abort();
  await browser?.close();
  await world.close();
}

/** Every agent writes at the same pace, and one of them is watched. */
async function measureChunks(pid: number): Promise<void> {
  const each = options['per-second'] / options.agents;
  const count = Math.round(each * options.seconds);
  const workOf = (ticket: string): string => `work ${ticket} ${count} 0 ${1_000 / each}`;
  const watched = watchViews(tickets[0] ?? '');
  const before = { lines: logLines(world.home.eventsDir).length, rss: rssMegabytes(pid) };
  await Promise.all(tickets.map((ticket) => world.message(ticket, workOf(ticket), `${ticket}/1`)));
  await until(() => tickets.every((ticket) => world.received(ticket).at(-1) === `prompt ${workOf(ticket)}`));
  const [cpu, started] = [cpuMicroseconds(pid), performance.now()];
  let rss = 0;
  for (const ticket of tickets) {
    for (; (await world.view(ticket)).agent?.state !== 'idle'; await sleep(500))
      rss = Math.max(rss, rssMegabytes(pid));
  }
  const seconds = (performance.now() - started) / 1_000;
  const used = (cpuMicroseconds(pid) - cpu) / 1_000_000;
  let dropped = 0;
  for (const ticket of tickets) {
    const { items } = await world.view(ticket);
    const text = items.flatMap((item) => (item.kind === 'message' ? [item.text] : [])).join('');
    const chunks = new Set(text.trim().split(' '));
    for (let number = 0; number < count; number += 1) if (!chunks.has(`${ticket}.${number}`)) dropped += 1;
  }
  await daemon.settle();
  const lines = logLines(world.home.eventsDir).length - before.lines;
  const rate = (options.agents * count) / seconds;
  console.log(
    `${options.agents} agents, ${options.agents * count} chunks in ${seconds.toFixed(1)} s (${rate.toFixed(0)} a second): daemon ${((used / seconds) * 100).toFixed(0)} % of one core, RSS ${before.rss} to ${rss} MB, ${lines} lines in the log, ${watched.views()} messages to one viewer, dropped ${dropped}`,
  );
  watched.end();
  failUnless(dropped === 0);
}

/** The stream of one agent, as a page reads it. */
function watchViews(ticket: string) {
  const ending = new AbortController();
  const signal = AbortSignal.any([ending.signal, over.signal]);
  const open = new Map<string, PromiseWithResolvers<number>>();
  let views = 0;
  const openOf = (request: string): PromiseWithResolvers<number> => {
    const known = open.get(request) ?? Promise.withResolvers<number>();
    open.set(request, known);
    return known;
  };
  const read = async (): Promise<void> => {
    const { body } = await fetch(`http://127.0.0.1:${daemon.port}/api/workers/${ticket}/agent/stream`, {
      signal,
    });
    let text = '';
    for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const messages = (text + piece).split('\n\n');
      text = messages.pop() ?? '';
      for (const message of messages.filter((one) => one.startsWith('data: '))) {
        views += 1;
        const view = JSON.parse(message.slice(6)) as AgentView;
        for (const { request } of view.agent?.open ?? []) openOf(request).resolve(now());
      }
    }
  };
  read().catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  return {
    views: () => views,
    shown: (request: string): Promise<number> => openOf(request).promise,
    end: (): void => ending.abort(),
  };
}

function now(): number {
  return performance.timeOrigin + performance.now();
}

/** The agent asks and writes down when it asked and when it got the answer. */
async function measureRequests(
  ticket: string,
  name: string,
  {
    shown,
    answer,
  }: { shown: (request: string) => Promise<number>; answer: (request: string) => Promise<number> },
) {
  const times = { shown: [] as number[], received: [] as number[] };
  for (let count = 1; count <= options.requests; count += 1) {
    const id = `${name}-${count}`;
    const isShown = shown(JSON.stringify(id));
    const steps = [
      ['time', `asked ${id}`],
      ['line', permission(id)],
      ['answers', 1],
      ['time', `answered ${id}`],
      ['end'],
    ];
    await world.message(ticket, `do ${JSON.stringify(steps)}`, id);
    const shownAt = await isShown;
    const answeredAt = await answer(JSON.stringify(id));
    const noted = (what: string): Promise<number> =>
      until(() =>
        Number(
          world
            .received(ticket)
            .find((line) => line.startsWith(`${what} ${id} `))
            ?.split(' ')[2],
        ),
      );
    times.shown.push(shownAt - (await noted('asked')));
    times.received.push((await noted('answered')) - answeredAt);
    await world.untilState(ticket, 'idle');
    // Not in step with any timer.
    await sleep(100 + Math.random() * 300);
  }
  return { shown: spreadOf(times.shown), received: spreadOf(times.received) };
}

async function measureApi(): Promise<void> {
  const ticket = tickets[0] ?? '';
  const { shown: untilShown, end } = watchViews(ticket);
  const { shown, received } = await measureRequests(ticket, 'api', {
    shown: untilShown,
    async answer(request) {
      const at = now();
      await world.answer(ticket, request, 'allow_once');
      return at;
    },
  });
  end();
  console.log(
    `API, ${options.requests} requests: from the agent's request to the stream p50 ${shown.p50Ms.toFixed(0)} ms, p99 ${shown.p99Ms.toFixed(0)} ms; from the answer to the agent p50 ${received.p50Ms.toFixed(0)} ms, p99 ${received.p99Ms.toFixed(0)} ms`,
  );
}

async function measureChromium(chromium: Browser): Promise<void> {
  // One that has no long conversation yet.
  const ticket = tickets[1] ?? tickets[0] ?? '';
  const { page, close } = await openPage(chromium);
  try {
    await page.addInitScript(watchPage);
    await page.goto(`http://127.0.0.1:${daemon.port}/tickets/${ticket}`);
    await page.getByRole('log', { name: 'Conversation with the agent' }).waitFor();
    const requests = page.getByRole('region', { name: 'Open requests' });
    const { shown, received } = await measureRequests(ticket, 'page', {
      shown: (request) =>
        page.evaluate<number>(`window.shown(${JSON.stringify(`touch ${JSON.parse(request)}`)})`),
      async answer() {
        await requests.getByRole('button', { name: 'allow_once' }).click();
        return page.evaluate<number>('window.clickedAt');
      },
    });
    console.log(
      `Chromium, ${options.requests} requests: from the agent's request to the visible prompt p99 ${shown.p99Ms.toFixed(0)} ms; from the click to the agent p99 ${received.p99Ms.toFixed(0)} ms`,
    );
    judgeGoal("the agent's request to the visible prompt, p50", shown.p50Ms, options['goal-shown'], 'ms');
    judgeGoal('the click to the agent, p50', received.p50Ms, options['goal-received'], 'ms');
  } finally {
    await close();
  }
}

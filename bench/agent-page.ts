// A ticket's page with a long session of its agent: when the conversation and a long diff are first painted, the frames a
// second while they scroll, and what 10,000 updates at once cost. Real Chromium; the agent is scripted, everything else is
// the daemon. `npm run build`, then `npm run bench:agent-page`.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Locator, Page } from 'playwright-core';
import {
  type AgentWorld,
  agentOf,
  changesOf,
  longDiff,
  type NewItem,
  startAgentWorld,
  toolOf,
} from '../packages/dashboard/e2e/agent-world.ts';
import { openChromium, openPage } from '../packages/dashboard/e2e/chromium.ts';
import { describeMachine, failUnless, judgeGoal, scriptOptions } from '../packages/testkit/src/script.ts';
import { startTapeDaemon, type TapeDaemon } from '../packages/testkit/src/tape/tape-daemon.ts';
import { countFrames, framesOf, measureBlank } from './dashboard/traffic.ts';

const options = scriptOptions({
  updates: 10_000,
  // As many as the daemon keeps of a session.
  items: 2_000,
  lines: 5_000,
  seconds: 10,
  'goal-frames': 60,
  'goal-paint': 1_000,
});
const of = { ticket: 'TID-121', orchestrator: 'run-winter-storage' };
const path = 'src/harbour/long.ts';
let browser: Browser | undefined;
let daemon: TapeDaemon | undefined;
let world: AgentWorld | undefined;

console.log(describeMachine());
try {
  browser = await openChromium();
  daemon = await startTapeDaemon({ past: 'end' });
  world = await startAgentWorld({
    daemonPort: daemon.port,
    ...of,
    agent: agentOf(),
    items: itemsOf(options.items),
    changes: changesOf(of, [{ path, added: 2_000, removed: 1_000, diff: longDiff(path, options.lines) }]),
  });
  console.log(`Chromium ${browser.version()}, 1280 × 800, ${options.items} items, ${options.lines} lines`);
  console.log(`an empty page on this machine: ${Math.round(await measureBlank(browser))} frames a second`);
  await measurePage(browser, world);
} finally {
  await browser?.close();
  await world?.close();
  await daemon?.close();
}

async function measurePage(chromium: Browser, { url, push }: AgentWorld): Promise<void> {
  const { page, problems, close } = await openPage(chromium);
  try {
    const log = page.getByRole('log', { name: 'Conversation with the agent' });
    const end = log.getByText(`message ${options.items - 1} `);
    const work = await startWork(page);
    await page.goto(`${url}/tickets/${of.ticket}`);
    await end.waitFor();
    console.log(`until then: ${await work()}`);
    judgeGoal(
      'conversation, from the navigation to its end on screen',
      await sinceStart(page),
      options['goal-paint'],
      'ms',
    );
    await scroll(page, log, 'conversation');
    const tab = page.getByRole('tab', { name: /^Changes/ });
    const diff = page.getByRole('region', { name: /^Diff of all files/ });
    const started = await sinceStart(page);
    await tab.click();
    await diff.getByText('// line 0').first().waitFor();
    judgeGoal(
      'diff, from the click to its first line',
      (await sinceStart(page)) - started,
      options['goal-paint'],
      'ms',
    );
    await scroll(page, diff, 'diff');
    await page.getByRole('tab', { name: 'Conversation' }).click();
    await end.waitFor();
    await receive(page, push);
    const found = await problems();
    failUnless(found.length === 0);
    for (const problem of found) console.log(problem);
  } finally {
    await close();
  }
}

/** Up for half of the time, then down, as with a wheel. */
async function scroll(page: Page, frame: Locator, name: string): Promise<void> {
  await frame.hover();
  await sleep(500);
  const busy = await startWork(page);
  await page.evaluate(countFrames);
  const until = performance.now() + options.seconds * 1_000;
  const half = performance.now() + options.seconds * 500;
  let sent = 0;
  while (performance.now() < until) {
    const isFirst = performance.now() < half;
    await page.mouse.wheel(0, (name === 'diff') === isFirst ? 240 : -240);
    sent += 1;
    await sleep(8);
  }
  judgeFrames(`${name}, scrolled ${sent} times by 240 pixels`, await readFrames(page), await busy());
}

/** As many updates as the session had, in ten messages a second. */
async function receive(page: Page, push: AgentWorld['push']): Promise<void> {
  const each = Math.ceil(options.updates / (options.seconds * 10));
  const busy = await startWork(page);
  await page.evaluate(countFrames);
  for (let at = 0; at < options.updates; at += each) {
    const items = Array.from({ length: each }, (_, index) =>
      itemOf(options.items + Math.floor((at + index) / 4)),
    );
    push(
      items.map((item, index) => ('text' in item ? { ...item, text: `${item.text} part ${index}` } : item)),
    );
    await sleep(100);
  }
  judgeFrames(`${options.updates} updates at ten messages a second`, await readFrames(page), await busy());
}

/** The processor time of the page's main thread: on a busy machine it says more than the frames. */
async function startWork(page: Page): Promise<() => Promise<string>> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const read = async (): Promise<Map<string, number>> => {
    const { metrics } = await session.send('Performance.getMetrics');
    return new Map(metrics.map(({ name, value }) => [name, value]));
  };
  const before = await read();
  const started = performance.now();
  return async () => {
    const after = await read();
    const seconds = (performance.now() - started) / 1_000;
    const share = (name: string): string =>
      `${Math.round((100 * ((after.get(name) ?? 0) - (before.get(name) ?? 0))) / seconds)} %`;
    return `processor time of the page ${share('TaskDuration')} (script ${share('ScriptDuration')}, style ${share('RecalcStyleDuration')}, layout ${share('LayoutDuration')})`;
  };
}

function judgeFrames(
  what: string,
  { median, worst, longestMs }: ReturnType<typeof framesOf>,
  work: string,
): void {
  const isReached = Math.round(median) >= options['goal-frames'];
  console.log(
    `${what}: ${Math.round(median)} frames a second (median of the seconds, goal ${options['goal-frames']}: ${isReached ? 'reached' : 'NOT reached'}), worst second ${worst}, longest frame ${longestMs.toFixed(0)} ms, ${work}`,
  );
  failUnless(isReached);
}

async function readFrames(page: Page): Promise<ReturnType<typeof framesOf>> {
  return framesOf(await page.evaluate<number[]>('cancelAnimationFrame(window.counting), window.frames'));
}

function sinceStart(page: Page): Promise<number> {
  return page.evaluate<number>('performance.now()');
}

function itemsOf(count: number): NewItem[] {
  return Array.from({ length: count }, (_, number) => itemOf(number));
}

/** Messages of several lengths, some with code, and tools with a diff or output; the last one is a message. */
function itemOf(number: number): NewItem {
  const text = `message ${number} ${'about a berth and its season. '.repeat(1 + (number % 9))}`;
  if (number % 4 === 3 || number % 10 === 9)
    return {
      id: `message:${number}`,
      kind: 'message',
      cut: false,
      text: number % 5 === 0 ? `${text}\n\n\`\`\`ts\nconst value = ${number};\nreturn value;\n\`\`\`` : text,
    };
  if (number % 4 === 2) return { id: `thought:${number}`, kind: 'thought', text, cut: false };
  const lines = Array.from({ length: 30 }, (_, line) => `line ${line} of ${number}`);
  return toolOf(String(number), {
    title: `Edit src/part-${number}.ts`,
    toolKind: number % 2 === 0 ? 'edit' : 'execute',
    paths: [`src/part-${number}.ts`],
    output: number % 2 === 0 ? '' : lines.join('\n'),
    diffs:
      number % 2 === 0
        ? [
            {
              path: `src/part-${number}.ts`,
              before: lines.join('\n'),
              after: lines.with(7, 'changed').join('\n'),
            },
          ]
        : [],
  });
}

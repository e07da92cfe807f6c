// What every journey has: the services around the person's machine, the person at a terminal and a browser, and the way of
// one ticket from its agent to a shipped one. What svc reports in the end is compared with what the code host knows.
import type { Browser } from 'playwright-core';
import type { AgentView } from '../../packages/core/src/api/agents.ts';
import { startFakeCodehost } from '../../packages/testkit/src/codehost/fake-codehost.ts';
import { startPublicRelay } from '../../packages/testkit/src/relay/public-relay.ts';
import { askJson, scriptFolder } from '../../packages/testkit/src/script.ts';
import { startFakeTracker } from '../../packages/testkit/src/tracker/fake-tracker.ts';
import { TRACKER_TOKEN } from '../../packages/testkit/src/tracker/tickets.ts';
import { until, WAIT_MS } from '../../packages/testkit/src/waiting.ts';
import type { Program } from '../agent-suite/programs.ts';
import { createRepository, REPO } from './codehost.ts';
import { createHands, goals, judgeFigure } from './hands.ts';
import { createMachine } from './machine.ts';
import { COMMANDS, startModel } from './model.ts';
import { openScreens } from './screens.ts';
import { openTerminal, type Turn } from './terminal.ts';

export type Setting = { program: Program; cache: string; browser: Browser; sabotage: boolean };
export type World = Awaited<ReturnType<typeof openWorld>>;
export type Person = Awaited<ReturnType<typeof openPerson>>;

/** An agent works on several commands; all of a ticket take at most so long. */
const LONGEST_MS = 3 * WAIT_MS;

/** Everything but the person: the code host, the tracker, the public relay and the model. */
export async function openWorld(ending: AsyncDisposableStack, setting: Setting) {
  const codehost = await startFakeCodehost({ folder: scriptFolder('journey-codehost') });
  ending.defer(() => codehost.close());
  const tracker = await startFakeTracker();
  ending.defer(() => tracker.close());
  tracker.addToken(TRACKER_TOKEN);
  const relay = await startPublicRelay({ pingMs: 500 });
  ending.defer(() => relay.stop());
  const model = await startModel(setting);
  ending.defer(() => model.close());
  const repository = createRepository(codehost);
  return { ...setting, codehost, tracker, relay, model, repository, ending };
}

/** A new machine with its person at a terminal. */
export async function openPerson(
  world: World,
  name: string,
  more: { withheld?: readonly string[]; services?: Record<string, string> } = {},
) {
  const { ending, browser, tracker, relay, model, program } = world;
  const hands = createHands();
  const machine = createMachine(name, {
    ...world,
    models: model.url,
    services: {
      SVC_MONITOR_PORT: '0',
      SVC_TRACKER_API_URL: tracker.url,
      SVC_RELAY_URL: relay.url,
      ...more.services,
    },
    ...(more.withheld && { withheld: more.withheld }),
  });
  ending.defer(() => machine.end());
  // The code host has a production environment, so a ticket is done when it was deployed there.
  if (world.codehost.cloud.repoOf(REPO).deployments.length === 0)
    world.codehost.cloud.addDeployment(REPO, { sha: machine.git('rev-parse', 'HEAD') });
  const terminal = await openTerminal(machine, hands);
  ending.defer(() => terminal.close());
  const ask = <T>(path: string, body?: object): Promise<T> => askJson<T>(machine.daemonUrl() + path, body);
  return {
    ...machine,
    hands,
    terminal,
    agent: program.name,
    ask,
    /** `svc init`: Enter at every question but those that are named here. */
    async init(turns: readonly Turn[]): Promise<string> {
      return terminal.must('svc init', turns);
    },
    async openScreens(path = '/') {
      const screens = await openScreens(browser, machine.daemonUrl() + path, hands);
      ending.defer(() => screens.close());
      return screens;
    },
    view: (ticket: string): Promise<AgentView> => ask<AgentView>(`/api/workers/${ticket}/agent`),
  };
}

/** Enter at every question; the tickets are the issues of the repository. */
export const enterEverywhere: readonly Turn[] = [
  'Repository at the code host',
  'Key of the project',
  'Where are your tickets?',
  'Deploy environment',
  'How may events of',
].map((question) => [question, '\r']);

/** From a started ticket to its pull request: every request of the agent is answered by `answer`, which counts. */
export async function answerAll(
  { repository, program }: World,
  { hands, view }: Person,
  { journey, ticket }: { journey: string; ticket: string },
  answer: (request: { index: number; id: string; command: string | null }) => Promise<void>,
): Promise<void> {
  const answered: string[] = [];
  for (const deadline = performance.now() + LONGEST_MS; ; ) {
    const { id, command } = await until(async () => {
      if (repository.rowOf(ticket) !== undefined) return { id: null, command: null };
      const { agent } = await view(ticket);
      if (agent?.state === 'ended' || agent?.state === 'idle')
        throw new Error(`the agent is ${agent.state}: ${agent.message ?? agent.problem ?? ''}`);
      const open = agent?.open[0];
      return open === undefined ? undefined : { id: open.request, command: open.command };
    });
    if (id === null) break;
    if (performance.now() > deadline) throw new Error(`${ticket}: no pull request in time`);
    const mark = hands.mark();
    await answer({ index: answered.length, id, command });
    await until(async () => (await view(ticket)).agent?.open.every(({ request }) => request !== id) ?? true);
    const acts = hands.since(mark);
    judgeFigure(
      journey,
      `${program.name}: request ${answered.length + 1} answered (${acts.join(', ')})`,
      acts.length,
      goals.answer,
      'click or key',
    );
    answered.push(id);
  }
  if (answered.length < COMMANDS)
    throw new Error(`${ticket}: ${answered.length} requests for ${COMMANDS} commands: the agent did not ask`);
}

/** Merged and deployed by the code host; then every answer about the ticket is compared with what is so. */
export async function ship(world: World, person: Person, { ticket, word }: { ticket: string; word: string }) {
  const { repository } = world;
  const { terminal } = person;
  const before = repository.deliveredSuccesses();
  await repository.announce(ticket);
  const early = await terminal.run(`svc receipt ${ticket}`);
  if (early.code !== 1) throw new Error(`${ticket} shipped before its merge: ${early.screen}`);
  await repository.merge(ticket);
  await repository.deploy(ticket);
  const isShipped = async (): Promise<boolean> =>
    (await person.ask<{ shipped: boolean | null }>(`/api/workers/${ticket}/receipt`)).shipped === true;
  await until(isShipped).catch(() => undefined);
  const { code, screen } = await terminal.run(`svc receipt ${ticket}`);
  const problems = [
    ...(code === 0 ? [] : [`svc receipt ended with ${code}: ${screen}`]),
    ...repository.problems(ticket, word),
    ...(repository.deliveredSuccesses() > before ? [] : ['no signed delivery of the success was accepted']),
  ];
  if (problems.length > 0) throw new Error(problems.join('\n'));
}

// What every journey has: the services around the person's machine, and the person at a terminal and a browser.
import type { Browser } from 'playwright-core';
import type { AgentView } from '../../packages/monitor/src/features/agents/api.ts';
import { startFakeCodehost } from '../../packages/testkit/src/codehost/fake-codehost.ts';
import { startPublicRelay } from '../../packages/testkit/src/relay/public-relay.ts';
import { askJson, scriptFolder } from '../../packages/testkit/src/script.ts';
import { startFakeTracker } from '../../packages/testkit/src/tracker/fake-tracker.ts';
import { TRACKER_TOKEN } from '../../packages/testkit/src/tracker/tickets.ts';
import type { Program } from '../agent-suite/programs.ts';
import { createRepository, REPO } from './codehost.ts';
import { createFigures, createHands } from './hands.ts';
import { createMachine } from './machine.ts';
import { randomWord, startModel, taskText } from './model.ts';
import { openScreens } from './screens.ts';
import { openTerminal, type Turn } from './terminal.ts';

export type Setting = {
  journey: string;
  program: Program;
  cache: string;
  browser: Browser;
  sabotage: boolean;
};
export type World = Awaited<ReturnType<typeof openWorld>>;
export type Person = Awaited<ReturnType<typeof openPerson>>;
export type Ticket = { ticket: string; word: string };

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
  return {
    ...setting,
    codehost,
    tracker,
    relay,
    model,
    ending,
    repository: createRepository(codehost),
    figures: createFigures(`${setting.journey}: ${setting.program.name}`),
    /** A ticket whose text has a word that is nowhere else. */
    addIssue(text: { unwanted?: boolean } = {}): Ticket {
      const word = randomWord();
      const { number } = codehost.cloud.addIssue(REPO, {
        title: 'Write the word',
        body: taskText(word, text),
      });
      return { ticket: `GH-${number}`, word };
    },
  };
}

/** A new machine with its person at a terminal. `withheld`: variables that the agent does not have yet. */
export async function openPerson(world: World, name: string, withheld: readonly string[] = []) {
  const { ending, browser, tracker, relay, model, codehost } = world;
  const hands = createHands();
  const machine = createMachine(name, {
    ...world,
    withheld,
    models: model.url,
    services: {
      SVC_MONITOR_PORT: '0',
      SVC_TRACKER_API_URL: tracker.url,
      SVC_RELAY_URL: relay.url,
    },
  });
  ending.defer(() => machine.end());
  // There is a production environment, so a ticket is done when it was deployed there.
  if (codehost.cloud.repoOf(REPO).deployments.length === 0)
    codehost.cloud.addDeployment(REPO, { sha: machine.git('rev-parse', 'HEAD') });
  const terminal = await openTerminal(machine, hands);
  ending.defer(() => terminal.close());
  const ask = <T>(path: string): Promise<T> => askJson<T>(machine.daemonUrl() + path);
  return {
    ...machine,
    hands,
    terminal,
    ask,
    async openScreens(path = '/') {
      const screens = await openScreens(browser, machine.daemonUrl() + path, hands);
      ending.defer(() => screens.close());
      return screens;
    },
    view: (ticket: string): Promise<AgentView> => ask<AgentView>(`/api/workers/${ticket}/agent`),
  };
}

const enterAt = (...questions: string[]): readonly Turn[] => questions.map((question) => [question, '\r']);

/** What is typed at the questions of `svc init` if the tickets are the issues of the repository. */
export const withIssues = enterAt(
  'Repository at the code host',
  'Key of the project',
  'Where are your tickets?',
  'Deploy environment',
  'How may events of',
);

/** The same if they are in Linear. */
export const withLinear: readonly Turn[] = [
  ...enterAt('Repository at the code host', 'Key of the project'),
  // One down from the issues.
  ['Where are your tickets?', '\u001b[B\r'],
  ['API token of the issue tracker', `${TRACKER_TOKEN}\r`],
  ...enterAt('Team at the issue tracker', 'Deploy environment', 'How may events of'),
];

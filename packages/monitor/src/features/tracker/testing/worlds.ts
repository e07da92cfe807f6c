// One world per provider, for the contract: the same project with tickets at a fake of the provider's cloud.
import { runCommand } from '@svc/lib/process';
import { codehostForTest, ghEnvironment, testToken, testTracker, viewer } from '@svc/testkit';
import { createGh } from '../../codehost/gh.ts';
import type { Config } from '../../config.ts';
import { openTracker } from '../io/open-tracker.ts';
import type { Tracker } from '../io/tracker.ts';
import { stateNamed } from '../ticket-phase.ts';
import { trackerOf } from '../tracker-of.ts';
import { meansOf, TOKEN } from './client-of.ts';
import { projectConfig } from './project-config.ts';

export type Fault = 'unauthorised' | 'rate-limited' | 'server-error' | 'garbage' | 'cut';

export type World = {
  config: Config;
  tracker: Tracker;
  /** The names of its states that are not the end of a ticket, in order. */
  openStates: string[];
  /** Returns the ticket's name. */
  addTicket: (given: { title: string; text?: string; updatedAt?: string }) => string;
  /** A person changes it in the vendor's own interface. */
  byHand: (ticket: string, change: { state?: string; title?: string; label?: string }) => void;
  /** Somebody comments; `self` with the login that svc uses. */
  comment: (ticket: string, text: string, by: 'self' | 'sam') => void;
  labelsOf: (ticket: string) => string[];
  isClosed: (ticket: string) => boolean;
  /** The first waits for the second. */
  block: (ticket: string, by: string) => void;
  fail: (fault: Fault) => void;
  titles: () => string[];
  secret: string;
};

async function linear(): Promise<World> {
  const fake = await testTracker(TOKEN);
  const team = fake.cloud.addTeam({ key: 'ABC' });
  const config = projectConfig({ teamKey: 'ABC', teamId: team.id });
  const chosen = trackerOf(config);
  if (chosen.provider === undefined) throw new Error(chosen.why);
  let time = Date.now();
  const stateId = (name: string) => stateNamed(fake.cloud.statesOf(team.id), name)?.id ?? '';
  return {
    config,
    tracker: openTracker(chosen, meansOf(fake)),
    openStates: ['Backlog', 'Todo', 'In Progress', 'In Review'],
    addTicket({ title, text = '', updatedAt }) {
      const times = updatedAt === undefined ? {} : { updatedAt, createdAt: updatedAt };
      return fake.cloud.identifierOf(
        fake.cloud.addIssue({ teamId: team.id, title, description: text, ...times }),
      );
    },
    byHand(ticket, { state, title, label }) {
      const labels = label === undefined ? {} : { labelIds: [fake.cloud.addLabel({ name: label }).id] };
      fake.cloud.changeIssue(ticket, {
        ...(state !== undefined && { stateId: stateId(state) }),
        ...(title !== undefined && { title }),
        ...labels,
        updatedAt: new Date().toISOString(),
      });
    },
    comment(ticket, text, by) {
      const known = fake.cloud.users.find(({ name }) => name === by) ?? fake.cloud.addUser({ name: by });
      const user = by === 'self' ? fake.cloud.users[0] : known;
      time += 1;
      const createdAt = new Date(time).toISOString();
      fake.cloud.addComment(ticket, { body: text, userId: user?.id ?? null, createdAt });
    },
    labelsOf: (ticket) =>
      fake.cloud
        .issueOf(ticket)
        .labelIds.flatMap((id) => fake.cloud.labels.find((label) => label.id === id)?.name ?? []),
    isClosed(ticket) {
      const { stateId: id } = fake.cloud.issueOf(ticket);
      const type = fake.cloud.states.find((state) => state.id === id)?.type ?? '';
      return type === 'completed' || type === 'canceled';
    },
    block: (ticket, by) => void fake.cloud.relate(by, ticket),
    fail(fault) {
      if (fault === 'server-error') fake.failNext({ kind: 'server-error', status: 502 });
      else if (fault === 'garbage') fake.failNext({ kind: 'body', text: '<html>' });
      else if (fault === 'cut') fake.failNext({ kind: 'cut', when: 'within' });
      else fake.failNext({ kind: fault });
    },
    titles: () => fake.cloud.issues.map(({ title }) => title),
    secret: TOKEN,
  };
}

type Mode = 'labels' | 'open and closed' | 'project';
const repo = 'acme/web';

async function github(mode: Mode): Promise<World> {
  const fake = await codehostForTest();
  fake.cloud.addRepo(repo);
  const project =
    mode === 'project'
      ? fake.cloud.addProject('acme', ['Backlog', 'Todo', 'In Progress', 'In Review', 'Done', 'Canceled'])
      : undefined;
  const openStates = mode === 'open and closed' ? ['Backlog'] : ['Todo', 'In Progress', 'In Review'];
  if (mode === 'labels') fake.cloud.addIssue(repo, { title: 'has the labels', labels: openStates });
  const config = projectConfig(
    { provider: 'github', ...(project && { githubProject: `acme/${project.number}` }) },
    { token: null, repository: { org: 'acme', name: 'web' } },
  );
  const chosen = trackerOf(config);
  if (chosen.provider === undefined) throw new Error(chosen.why);
  const environment = ghEnvironment(fake, testToken);
  const gh = createGh({ environment, run: runCommand, now: Date.now });
  let time = Date.now();
  const rowOf = (ticket: string) => {
    const number = Number(ticket.split('-')[1]);
    const row = fake.cloud.repoOf(repo).issues.find((one) => one.number === number);
    if (row === undefined) throw new Error(`no ${ticket}`);
    return row;
  };
  return {
    config,
    tracker: openTracker(chosen, { ...meansOf({ url: '' }), gh: () => gh }),
    openStates,
    addTicket({ title, text = '', updatedAt }) {
      const at = updatedAt === undefined ? Date.now() : Date.parse(updatedAt);
      const row = fake.cloud.addIssue(repo, { title, body: text, createdAt: at, updatedAt: at });
      return `GH-${row.number}`;
    },
    byHand(ticket, { state, title, label }) {
      const row = rowOf(ticket);
      if (title !== undefined) row.title = title;
      if (label !== undefined) row.labels.push(label);
      if (state === 'Done' || state === 'Canceled') {
        row.state = 'closed';
        row.stateReason = state === 'Done' ? 'completed' : 'not_planned';
      } else if (state !== undefined && project === undefined) row.labels.push(state);
      if (state !== undefined && project !== undefined)
        void fake.issues.setStatus(project, repo, row.number, state);
      row.updatedAt = Date.now();
    },
    comment(ticket, text, by) {
      time += 1_000;
      const times = { createdAt: time, updatedAt: time };
      const author = by === 'self' ? viewer : by;
      rowOf(ticket).comments.push({ id: fake.cloud.nextId(), author, body: text, ...times });
    },
    labelsOf: (ticket) => rowOf(ticket).labels,
    isClosed: (ticket) => rowOf(ticket).state === 'closed',
    block: (ticket, by) => void rowOf(ticket).blockedBy.push(rowOf(by).id),
    fail(fault) {
      if (fault === 'server-error') fake.failNext({ kind: 'server-error', status: 502 });
      else if (fault === 'garbage') fake.failNext({ kind: 'body', text: '<html>' });
      else if (fault === 'cut') fake.failNext({ kind: 'cut', when: 'within' });
      else fake.failNext({ kind: fault });
    },
    titles: () => fake.cloud.repoOf(repo).issues.map(({ title }) => title),
    secret: testToken,
  };
}

export const worlds: readonly (readonly [string, () => Promise<World>])[] = [
  ['linear', linear],
  ['github with labels', () => github('labels')],
  ['github, open and closed', () => github('open and closed')],
  ['github with a project', () => github('project')],
];

// Weeks of work that lie behind: workers from ticket to production by the thousand, written into the month files
// before a daemon starts. A few of them were left open.
import type { EventFields, EventLine } from '@svc/core';
import { createRandom, type Random } from '../random.ts';
import { writeMonthFiles } from './month-files.ts';
import { toLine } from './past.ts';
import { apiRepo, deployPolicies, people, type Repo, webRepo } from './product.ts';
import { hashOf } from './signal-state.ts';
import { hexOf } from './told.ts';

const DAY_MS = 86_400_000;
const CARD_MS = 3 * 3_600_000;

export type HistoryOptions = {
  cards: number;
  /** The last line is of before this moment. */
  until: Date;
  days?: number;
  seed?: number;
  /** The part of the cards that never got to their merge. */
  open?: number;
};

/** `writeHistory(eventsDir, { cards: 10_000, until: new Date() })` */
export function writeHistory(eventsDir: string, options: HistoryOptions): { lines: number } {
  return writeMonthFiles(eventsDir, historyLines(options));
}

export function* historyLines(options: HistoryOptions): Generator<EventLine> {
  const { cards, until, days = 28, seed = 3, open = 0.01 } = options;
  const random = createRandom(seed);
  const from = until.getTime() - days * DAY_MS;
  const step = (days * DAY_MS - CARD_MS) / cards;
  /** Cards that are under way, each with its next line. */
  const underWay: { at: number; rest: Iterator<EventFields> }[] = [];
  let seq = 0;
  let begun = 0;
  for (;;) {
    const next = underWay[0];
    const begins = begun < cards ? from + begun * step : Number.POSITIVE_INFINITY;
    if (next === undefined && begun === cards) return;
    if (next === undefined || begins <= next.at) {
      begun += 1;
      put(underWay, begins, cardDrafts(begun, begins, random, random.chance(open)));
      continue;
    }
    underWay.shift();
    const told = next.rest.next();
    if (told.done === true) continue;
    seq += 1;
    yield toLine(told.value, seq, new Date(next.at));
    put(underWay, next.at + CARD_MS / 14 + random.below(60_000), next.rest);
  }
}

/** In the order of time. */
function put(
  underWay: { at: number; rest: Iterator<EventFields> }[],
  at: number,
  rest: Iterator<EventFields>,
): void {
  const place = underWay.findLastIndex((other) => other.at <= at);
  underWay.splice(place + 1, 0, { at, rest });
}

function* cardDrafts(
  number: number,
  began: number,
  random: Random,
  staysOpen: boolean,
): Generator<EventFields> {
  const repo: Repo = random.chance(0.5) ? webRepo : apiRepo;
  const ticket = `OLD-${number}`;
  const pr = 10_000 + number;
  const orchestrator = `run-old-${Math.floor(number / 40)}`;
  const branch = `old-${number}-berth`;
  const sha = hexOf(random, 40);
  const mergeSha = hexOf(random, 40);
  const deploymentId = 1_000_000 + number;
  const person = random.pick(people);
  const title = `${random.pick(verbs)} ${random.pick(things)} ${random.pick(places)}`;
  const url = `https://code.example/${repo}/pull/${pr}`;
  const policy = deployPolicies[repo];
  const delivery = {
    source: 'codehost.webhook',
    via: 'live',
    actor: { login: person, type: 'User' },
  } as const;
  const time = (minutes: number): string => new Date(began + minutes * 60_000).toISOString();
  const startedAt = time(1);

  const worker = (status: string, more: object = {}): EventFields => {
    const signal = {
      ticket,
      orchestrator,
      workerName: `${orchestrator}-${ticket}`,
      status,
      phase: status,
      startedAt,
      updatedAt: startedAt,
      repo,
      branch,
      wave: 1,
      cost: { usd: 2 + (number % 50) / 10, inputTokens: 400_000, outputTokens: 21_000 },
      ...more,
    };
    return {
      event: `orchestrator.worker.${status === 'dispatched' ? 'dispatched' : 'status_changed'}`,
      source: 'orchestrator',
      via: 'local',
      scope: { ticket, orchestrator, worker: signal.workerName, repo, branch },
      detail: {
        ...(status !== 'dispatched' && { to: status }),
        signal,
        hash: hashOf(signal as never),
        policy,
      },
    };
  };
  const issue = (topic: string, name: string, type: string): EventFields => ({
    event: `tracker.issue.${topic}`,
    source: 'tracker.webhook',
    via: 'live',
    scope: { ticket },
    actor: { login: person, type: 'user' },
    detail: {
      id: `issue-${ticket}`,
      title,
      url: `https://tracker.example/tideline/issue/${ticket}`,
      state: { id: `state-${name}`, name, type },
      priority: 2,
      assignee: { id: `user-${person}`, name: person },
      team: 'OLD',
      labels: ['agent'],
    },
  });
  const pullRequest = (action: string, more: object = {}, scope: object = {}): EventFields => ({
    ...delivery,
    event: `codehost.pr.${action}`,
    scope: { repo, ticket, pr, branch, sha, ...scope },
    detail: {
      title: `${ticket}: ${title}`,
      url,
      state: 'open',
      draft: false,
      merged: false,
      author: person,
      base: 'main',
      headRepo: repo,
      createdAt: time(60),
      ...more,
    },
  });

  yield issue('created', 'Todo', 'unstarted');
  yield worker('dispatched');
  yield worker('implementing');
  yield pullRequest('opened');
  yield worker('pr-created', { pr: { number: pr, url, state: 'open' } });
  yield {
    ...delivery,
    event: 'codehost.check_suite.completed',
    scope: { repo, ticket, pr, branch, sha },
    detail: { suiteId: pr, status: 'completed', conclusion: 'success', prs: [pr], app: 'build' },
  };
  if (staysOpen) return;
  yield pullRequest(
    'merged',
    { state: 'closed', merged: true, mergedAt: time(110), mergedBy: person },
    { mergeSha },
  );
  const scope = { repo, sha: mergeSha, ref: 'main', environment: policy.productionEnvironment, deploymentId };
  yield { ...delivery, event: 'codehost.deployment.created', scope, detail: { task: 'deploy' } };
  yield { ...delivery, event: 'codehost.deployment_status.success', scope, detail: { state: 'success' } };
  yield issue('state_changed', 'Done', 'completed');
}

const verbs = ['Show', 'Store', 'Import', 'Check', 'Round', 'Translate', 'Print', 'Refuse', 'Sort', 'Send'];
const things = [
  'prices',
  'berths',
  'invoices',
  'boats',
  'stays',
  'tide tables',
  'passes',
  'refunds',
  'harbours',
];
const places = [
  'by season',
  'on the map',
  'for the office',
  'without a reload',
  'in the owner’s language',
  'by mail',
];

// Simulated workers, as the code host and the tracker see them. Each takes a ticket, opens a pull request after two to
// three hours, pushes six more times, is reviewed, merged and deployed, and takes the next; its ticket is moved along:
// about 3.3 pull requests a day, each with some 75 deliveries. One in twenty is closed without a merge, one deployment in
// ten fails and is repeated.
import { createHash } from 'node:crypto';
import {
  type DeploymentRow,
  fullNameOf,
  nextNumber,
  type PullRequestRow,
  type RepoRow,
} from '../packages/testkit/src/codehost/cloud.ts';
import type { FakeCodehost } from '../packages/testkit/src/codehost/fake-codehost.ts';
import { codehostExample } from '../packages/testkit/src/payloads/codehost-variants.ts';
import type { JsonObject } from '../packages/testkit/src/payloads/examples.ts';
import { createRandom, type Random } from '../packages/testkit/src/random.ts';
import type { SimulatedClock } from './codehost-calls-clock.ts';

const MINUTE_MS = 60_000;
const PUSHES = 6;
const SUITES = 4;

export type WorldTickets = {
  create: () => string;
  move: (ticket: string, phase: 'inProgress' | 'inReview' | 'done' | 'canceled') => Promise<void>;
};

/** A sequence of actions; each yielded value is the number of minutes until the next. */
type Story = AsyncGenerator<number, void>;

export type World = {
  /** Pull requests with deliveries since the feed started. */
  touched: ReadonlySet<OfPullRequest>;
  /** Stops all activity. */
  freeze: () => void;
};

export function startWorld(options: {
  clock: SimulatedClock;
  codehost: Pick<FakeCodehost, 'cloud' | 'emit'>;
  repos: readonly RepoRow[];
  tickets: WorldTickets;
  workers: number;
  seed: number;
  /** Whether the feed has started: before that, deliveries do not count. */
  hasBegun: () => boolean;
  /** Whether the next delivery reaches the receiver; in any case the code host gets 200. */
  isHeard: () => boolean;
}): World {
  const { clock, codehost, repos, tickets, hasBegun, isHeard } = options;
  const { cloud } = codehost;
  const touched = new Set<OfPullRequest>();
  let isFrozen = false;

  function follow(story: Story): void {
    const goOn = async (): Promise<void> => {
      if (isFrozen) return;
      const { value, done } = await story.next();
      if (done !== true) clock.after(Math.round(value * 60) * 1000, goOn);
    };
    clock.after(0, goOn);
  }

  async function send(repo: RepoRow, { type, payload }: Payload): Promise<void> {
    await codehost.emit(fullNameOf(repo), type, payload, { unheard: !isHeard() });
  }

  async function sendOf(name: string, of: OfPullRequest, more = {}): Promise<void> {
    if (hasBegun()) touched.add(of);
    await send(of.repo, pullRequestPayload(name, of, more));
  }

  function change({ repo, row }: OfPullRequest, changes: Partial<OfPullRequest['row']> = {}): void {
    cloud.changePullRequest(fullNameOf(repo), row.number, changes);
  }

  async function* life(random: Random): Story {
    const between = betweenOf(random);
    yield between(0, 435);
    for (;;) {
      const ticket = tickets.create();
      await tickets.move(ticket, 'inProgress');
      yield between(120, 180);
      const of = await open(random.pick(repos), ticket);
      await tickets.move(ticket, 'inReview');
      follow(checks(of, createRandom(random.below(1e9))));
      for (let count = 1; count <= PUSHES; count += 1) {
        yield between(20, 60);
        await push(of);
        follow(checks(of, createRandom(random.below(1e9))));
        if (count === 2) await review(of);
        if (count === 4) await answer(of);
      }
      yield between(13, 18);
      change(of, { reviewDecision: 'APPROVED' });
      await send(of.repo, pullRequestPayload('pull_request_review approved', of));
      yield between(2, 15);
      if (random.chance(0.05)) {
        await close(of);
        await tickets.move(ticket, 'canceled');
      } else await merge(of, random, ticket);
      yield between(5, 25);
    }
  }

  async function open(repo: RepoRow, ticket: string): Promise<OfPullRequest> {
    const branch = `${ticket.toLowerCase()}-go-on`;
    const more = { number: nextNumber(repo), title: `${ticket}: go on`, branch };
    const of = { repo, row: cloud.addPullRequest(fullNameOf(repo), { ...more, checks: 'PENDING' }) };
    await send(repo, pushPayload(repo, of.row.branch, '0'.repeat(40), of.row.headSha));
    await sendOf('pull_request opened', of);
    await send(repo, commentPayload(of));
    return of;
  }

  async function push(of: OfPullRequest): Promise<void> {
    const before = of.row.headSha;
    const after = createHash('sha1').update(before).digest('hex');
    change(of, { headSha: after, checks: 'PENDING' });
    await send(of.repo, pushPayload(of.repo, of.row.branch, before, after));
    await sendOf('pull_request opened', of, { action: 'synchronize', before, after });
  }

  async function* checks(of: OfPullRequest, random: Random): Story {
    const { headSha: sha, branch, number: pr } = of.row;
    const conclusion = random.chance(0.15) ? 'failure' : 'success';
    await send(of.repo, statusPayload(of, 'pending'));
    for (let count = 1; count <= SUITES; count += 1) {
      yield betweenOf(random)(1, 3);
      const isLast = count === SUITES;
      if (isLast && of.row.headSha === sha && of.row.state === 'OPEN')
        change(of, { checks: conclusion === 'success' ? 'SUCCESS' : 'FAILURE' });
      await send(of.repo, suitePayload(of.repo, { sha, branch, pr }, isLast ? conclusion : 'success'));
    }
    await send(of.repo, statusPayload(of, 'success'));
  }

  async function review(of: OfPullRequest): Promise<void> {
    change(of, { reviewDecision: 'CHANGES_REQUESTED' });
    await send(of.repo, pullRequestPayload('pull_request_review changes_requested', of));
    for (let count = 0; count < 3; count += 1)
      await send(of.repo, pullRequestPayload('pull_request_review_comment created', of));
  }

  async function answer(of: OfPullRequest): Promise<void> {
    change(of);
    for (let count = 0; count < 3; count += 1)
      await send(of.repo, pullRequestPayload('pull_request_review_thread resolved', of));
    await send(of.repo, commentPayload(of));
  }

  async function close(of: OfPullRequest): Promise<void> {
    change(of, { state: 'CLOSED', closedAt: clock.now() });
    await sendOf('pull_request closed', of);
  }

  async function merge(of: OfPullRequest, random: Random, ticket: string): Promise<void> {
    const { repo, row } = of;
    const sha = cloud.mergePullRequest(fullNameOf(repo), row.number);
    await sendOf('pull_request merged', of);
    await send(repo, pushPayload(repo, 'main', '0'.repeat(40), sha));
    follow(checksOfMain(repo, sha, createRandom(random.below(1e9))));
    follow(deploy(repo, sha, createRandom(random.below(1e9)), ticket));
  }

  async function* checksOfMain(repo: RepoRow, sha: string, random: Random): Story {
    for (let count = 1; count <= SUITES; count += 1) {
      yield betweenOf(random)(1, 3);
      await send(repo, suitePayload(repo, { sha, branch: 'main' }, 'success'));
    }
  }

  async function* deploy(repo: RepoRow, sha: string, random: Random, ticket: string): Story {
    const between = betweenOf(random);
    for (let isOut = false; !isOut; ) {
      yield between(1, 4);
      isOut = !random.chance(0.1);
      const row = cloud.addDeployment(fullNameOf(repo), { sha });
      await send(repo, deploymentPayload(repo, row));
      for (const [minutes, state] of [
        [0.5, 'queued'],
        [1, 'in_progress'],
        [between(5, 15), isOut ? 'success' : 'failure'],
      ] as const) {
        yield minutes;
        cloud.addDeploymentStatus(row, state);
        await send(repo, deploymentPayload(repo, row, state));
      }
    }
    await tickets.move(ticket, 'done');
  }

  for (let worker = 0; worker < options.workers; worker += 1)
    follow(life(createRandom(options.seed * 1000 + worker)));
  return {
    touched,
    freeze: () => {
      isFrozen = true;
    },
  };
}

/** Minutes. */
function betweenOf(random: Random): (least: number, most: number) => number {
  return (least, most) => least + random.next() * (most - least);
}

export const WARM_UP_MS = 480 * MINUTE_MS;

// The code host's deliveries: its published examples with the values of the simulated pull requests. Common parts are
// shared, so a day of deliveries fits into memory.

type Payload = { type: string; payload: JsonObject };
export type OfPullRequest = { repo: RepoRow; row: PullRequestRow };

const examples = new Map<string, Payload>();

function exampleOf(name: string): Payload {
  const found = examples.get(name) ?? codehostExample(name);
  examples.set(name, found);
  return found;
}

/** `part(payload, 'pull_request')` */
function part(object: JsonObject, name: string): JsonObject {
  return (object[name] ?? {}) as JsonObject;
}

function made(name: string, { repo }: Pick<OfPullRequest, 'repo'>, more: (base: JsonObject) => JsonObject) {
  const { type, payload } = exampleOf(name);
  const full_name = fullNameOf(repo);
  const repository = { ...part(payload, 'repository'), id: repo.id, name: repo.name, full_name };
  return { type, payload: { ...payload, repository, ...more(payload) } };
}

function shown({ repo, row }: OfPullRequest, base: JsonObject): JsonObject {
  const full_name = fullNameOf(repo);
  const isoTime = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());
  return {
    ...part(base, 'pull_request'),
    number: row.number,
    title: row.title,
    state: row.state === 'OPEN' ? 'open' : 'closed',
    draft: row.isDraft,
    merged: row.state === 'MERGED',
    merged_at: isoTime(row.mergedAt),
    closed_at: isoTime(row.closedAt),
    created_at: isoTime(row.createdAt),
    updated_at: isoTime(row.updatedAt),
    merge_commit_sha: row.mergeSha,
    head: { ref: row.branch, sha: row.headSha, repo: { id: repo.id, full_name } },
    base: { ref: row.base, repo: { id: repo.id, full_name } },
  };
}

/** `name` is an example of `pull_request`, of a review, a review comment or a review thread. */
function pullRequestPayload(name: string, of: OfPullRequest, more: JsonObject = {}): Payload {
  return made(name, of, (base) => ({ number: of.row.number, pull_request: shown(of, base), ...more }));
}

function pushPayload(repo: RepoRow, branch: string, before: string, after: string): Payload {
  const commits = [{ id: after, message: 'Go on' }];
  return made('push branch', { repo }, () => ({
    ref: `refs/heads/${branch}`,
    before,
    after,
    commits,
    head_commit: commits[0],
  }));
}

/** Without a pull request it is a check suite of the main branch. */
function suitePayload(
  repo: RepoRow,
  { sha, branch, pr }: { sha: string; branch: string; pr?: number },
  conclusion: 'success' | 'failure',
): Payload {
  const numbers = pr === undefined ? [] : [{ number: pr, base: { ref: 'main', repo: { id: repo.id } } }];
  return made(`check_suite ${conclusion}`, { repo }, (base) => ({
    check_suite: {
      ...part(base, 'check_suite'),
      head_sha: sha,
      head_branch: branch,
      pull_requests: numbers,
    },
  }));
}

function statusPayload({ repo, row }: OfPullRequest, state: 'pending' | 'success'): Payload {
  const about = { sha: row.headSha, branches: [{ name: row.branch }] };
  return made(`status ${state}`, { repo }, () => about);
}

function commentPayload({ repo, row }: OfPullRequest): Payload {
  return made('issue_comment on a pull request', { repo }, (base) => ({
    issue: { ...part(base, 'issue'), number: row.number, title: row.title },
  }));
}

/** Without a state: its creation. */
function deploymentPayload(repo: RepoRow, row: DeploymentRow, state?: string): Payload {
  const name = state === undefined ? 'deployment created' : `deployment_status ${state}`;
  const { id, sha, ref, environment } = row;
  return made(name, { repo }, (base) => ({
    deployment: { ...part(base, 'deployment'), id, sha, ref, environment },
  }));
}

// Simulated workers, as the code host and the tracker see them. Each takes a ticket, opens a pull request after two to
// three hours, pushes six more times, is reviewed, merged and deployed, and takes the next; its ticket is moved along:
// about 3.3 pull requests a day, each with some 75 deliveries. One in twenty is closed without a merge, one deployment in
// ten fails and is repeated.
import { createHash } from 'node:crypto';
import {
  fullNameOf,
  nextNumber,
  type PullRequestRow,
  type RepoRow,
} from '../packages/testkit/src/codehost/cloud.ts';
import type { FakeCodehost } from '../packages/testkit/src/codehost/fake-codehost.ts';
import {
  deploymentSending,
  pullRequestOf,
  pullRequestSending,
  type Sending,
  sending,
  statusSending,
} from '../packages/testkit/src/codehost/sendings.ts';
import { createRandom, type Random } from '../packages/testkit/src/random.ts';
import type { SimulatedClock } from './codehost-calls-clock.ts';

const MINUTE_MS = 60_000;
const PUSHES = 6;
const SUITES = 4;

/** A sequence of actions; each yielded value is the number of minutes until the next. */
type Story = AsyncGenerator<number, void>;

export function startWorld(options: {
  clock: SimulatedClock;
  codehost: Pick<FakeCodehost, 'cloud' | 'emit'>;
  repos: readonly RepoRow[];
  tickets: {
    create: () => string;
    move: (ticket: string, phase: 'inProgress' | 'inReview' | 'done' | 'canceled') => Promise<void>;
  };
  workers: number;
  seed: number;
  /** Whether the feed has started: before that, deliveries do not count. */
  hasBegun: () => boolean;
  /** Whether the next delivery reaches the receiver; in any case the code host gets 200. */
  isHeard: () => boolean;
}) {
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

  async function send({ repo }: Pick<OfPullRequest, 'repo'>, { type, payload }: Sending): Promise<void> {
    await codehost.emit(fullNameOf(repo), type, payload, { unheard: !isHeard() });
  }

  async function sendOf(of: OfPullRequest, action: string, more = {}): Promise<void> {
    if (hasBegun()) touched.add(of);
    await send(of, pullRequestSending(fullNameOf(of.repo), of.row, action, more));
  }

  /** A published example about the pull request. */
  async function sendLike(example: string, of: OfPullRequest): Promise<void> {
    const name = fullNameOf(of.repo);
    await send(of, sending(example, name, pullRequestOf(name, of.row)));
  }

  async function sendPush(repo: RepoRow, branch: string, before: string, after: string): Promise<void> {
    const commits = [{ id: after, message: 'Go on' }];
    const patch = { ref: `refs/heads/${branch}`, before, after, commits, head_commit: commits[0] };
    await send({ repo }, sending('push branch', fullNameOf(repo), patch));
  }

  async function sendStatus(of: OfPullRequest, state: 'pending' | 'success'): Promise<void> {
    const patch = { sha: of.row.headSha, branches: [{ name: of.row.branch }] };
    await send(of, sending(`status ${state}`, fullNameOf(of.repo), patch));
  }

  async function sendComment({ repo, row: { number, title } }: OfPullRequest): Promise<void> {
    const patch = { issue: { number, title } };
    await send({ repo }, sending('issue_comment on a pull request', fullNameOf(repo), patch));
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
      await sendLike('pull_request_review approved', of);
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
    await sendPush(repo, of.row.branch, '0'.repeat(40), of.row.headSha);
    await sendOf(of, 'opened');
    await sendComment(of);
    return of;
  }

  async function push(of: OfPullRequest): Promise<void> {
    const before = of.row.headSha;
    const after = createHash('sha1').update(before).digest('hex');
    change(of, { headSha: after, checks: 'PENDING' });
    await sendPush(of.repo, of.row.branch, before, after);
    await sendOf(of, 'synchronize', { before, after });
  }

  async function* checks(of: OfPullRequest, random: Random): Story {
    const { headSha: sha, branch } = of.row;
    const conclusion = random.chance(0.15) ? 'failure' : 'success';
    await sendStatus(of, 'pending');
    yield* suites(of.repo, { sha, branch, of }, random, conclusion);
    await sendStatus(of, 'success');
  }

  /** The last one has the given conclusion. Without a pull request they are about the main branch. */
  async function* suites(
    repo: RepoRow,
    { sha, branch, of }: { sha: string; branch: string; of?: OfPullRequest },
    random: Random,
    conclusion: 'success' | 'failure',
  ): Story {
    // With the id that the examples have for the repository.
    const base = { ref: 'main', repo: { id: 4200 } };
    const pull_requests = of === undefined ? [] : [{ number: of.row.number, base }];
    const patch = { check_suite: { head_sha: sha, head_branch: branch, pull_requests } };
    for (let count = 1; count <= SUITES; count += 1) {
      yield betweenOf(random)(1, 3);
      const isLast = count === SUITES;
      if (isLast && of?.row.headSha === sha && of.row.state === 'OPEN')
        change(of, { checks: conclusion === 'success' ? 'SUCCESS' : 'FAILURE' });
      await send(
        { repo },
        sending(`check_suite ${isLast ? conclusion : 'success'}`, fullNameOf(repo), patch),
      );
    }
  }

  async function review(of: OfPullRequest): Promise<void> {
    change(of, { reviewDecision: 'CHANGES_REQUESTED' });
    await sendLike('pull_request_review changes_requested', of);
    for (let count = 0; count < 3; count += 1) await sendLike('pull_request_review_comment created', of);
  }

  async function answer(of: OfPullRequest): Promise<void> {
    change(of);
    for (let count = 0; count < 3; count += 1) await sendLike('pull_request_review_thread resolved', of);
    await sendComment(of);
  }

  async function close(of: OfPullRequest): Promise<void> {
    change(of, { state: 'CLOSED', closedAt: clock.now() });
    await sendOf(of, 'closed');
  }

  async function merge(of: OfPullRequest, random: Random, ticket: string): Promise<void> {
    const { repo, row } = of;
    const sha = cloud.mergePullRequest(fullNameOf(repo), row.number);
    await sendOf(of, 'closed');
    await sendPush(repo, 'main', '0'.repeat(40), sha);
    follow(suites(repo, { sha, branch: 'main' }, createRandom(random.below(1e9)), 'success'));
    follow(deploy(repo, sha, createRandom(random.below(1e9)), ticket));
  }

  async function* deploy(repo: RepoRow, sha: string, random: Random, ticket: string): Story {
    const between = betweenOf(random);
    for (let isOut = false; !isOut; ) {
      yield between(1, 4);
      isOut = !random.chance(0.1);
      const row = cloud.addDeployment(fullNameOf(repo), { sha });
      await send({ repo }, deploymentSending(fullNameOf(repo), row));
      for (const [minutes, state] of [
        [0.5, 'queued'],
        [1, 'in_progress'],
        [between(5, 15), isOut ? 'success' : 'failure'],
      ] as const) {
        yield minutes;
        cloud.addDeploymentStatus(row, state);
        await send({ repo }, statusSending(fullNameOf(repo), row));
      }
    }
    await tickets.move(ticket, 'done');
  }

  for (let worker = 0; worker < options.workers; worker += 1)
    follow(life(createRandom(options.seed * 1000 + worker)));
  return {
    /** Pull requests with deliveries since the feed started. */
    touched,
    /** Stops all activity. */
    freeze: (): void => void (isFrozen = true),
  };
}

/** Minutes. */
function betweenOf(random: Random): (least: number, most: number) => number {
  return (least, most) => least + random.next() * (most - least);
}

export const WARM_UP_MS = 480 * MINUTE_MS;

export type OfPullRequest = { repo: RepoRow; row: PullRequestRow };

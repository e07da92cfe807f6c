// Random event tapes for tests: the log of a small random world of pull requests, workers and deployments. Lines that
// the fold appends come back some time later.

import { workerStatuses } from '@svc/contract/worker-statuses';
import { emptyBoard, foldLine } from '../../../features/board.ts';
import { ticketPhases } from '../../../features/tracker/ticket-phases.ts';
import type { EventDraft } from '../../log/event-line.ts';
import { type FoldedLine } from '../board.ts';

type Chance = {
  below: (limit: number) => number;
  chance: (probability: number) => boolean;
  pick: <Item>(list: readonly Item[]) => Item;
};

type Draft = Omit<FoldedLine, 'seq' | 'ts'>;

const START = Date.parse('2026-01-01T00:00:00Z');
const repos = ['acme/web', 'acme/api'];
const orchestrators = ['run-1', 'run-2'];
const tickets = ['ENG-1', 'ENG-2', 'ENG-3', 'ENG-4'];
const environments = ['production', 'staging', 'preview'];
const deploymentStates = ['pending', 'queued', 'in_progress', 'success', 'failure', 'error', 'inactive'];

/** The same line with another seq, like a repeated delivery. */
export function numbered(draft: Draft, seq: number): FoldedLine {
  return { ...draft, seq, ts: new Date(START + seq * 1000).toISOString() };
}

/** `upstreamOnly`: only deliveries of the code host and the tracker, in order, each with its own time. */
export function randomTape(chance: Chance, length: number, { upstreamOnly = false } = {}): FoldedLine[] {
  const world = createWorld(chance);
  const board = emptyBoard();
  const returning: EventDraft[] = [];
  const lines: FoldedLine[] = [];
  while (lines.length < length) {
    const back = returning.length > 0 && chance.chance(0.4) ? returning.shift() : undefined;
    const draft: Draft = back ?? (upstreamOnly || chance.chance(0.6) ? world.upstream() : world.ours());
    const seq = lines.length + 1;
    const line = numbered(
      upstreamOnly
        ? { ...draft, via: 'live', occurredAt: new Date(START + seq * 1000 - 500).toISOString() }
        : draft,
      seq,
    );
    lines.push(line);
    if (upstreamOnly) continue;
    for (const effect of foldLine(board, line)) if (effect.kind === 'append') returning.push(effect.draft);
  }
  return lines;
}

function own(event: string, scope: Draft['scope'], detail: Draft['detail']): Draft {
  const source = event.startsWith('comms.') ? 'cli' : 'orchestrator';
  return { event, source, via: 'local', scope, detail };
}

type Pull = {
  repo: string;
  number: number;
  head: number;
  state: string;
  draft: boolean;
  merged: boolean;
  mergedAt?: string;
};

function createWorld({ below, chance, pick }: Chance) {
  let counter = 0;
  let now = START;
  const pulls: Pull[] = [];
  const deployments: { repo: string; id: number; sha: string; environment: string }[] = [];
  const shaOf = (pull: Pull): string => `head-${pull.repo}-${pull.number}-${pull.head}`;
  const mergeOf = (pull: Pull): string => `merge-${pull.repo}-${pull.number}`;

  const line = (event: string, scope: Draft['scope'], detail: Draft['detail'] = {}): Draft => {
    now += below(30_000);
    const source = event.startsWith('tracker.') ? 'tracker.webhook' : 'codehost.webhook';
    const draft: Draft = {
      event,
      source,
      via: pick(['live', 'live', 'live', 'replay', 'poll'] as const),
      scope,
      detail,
    };
    return chance(0.9) ? { ...draft, occurredAt: new Date(now).toISOString() } : draft;
  };
  const scopeOf = (pull: Pull): Draft['scope'] => ({
    repo: chance(0.1) ? pull.repo.toUpperCase() : pull.repo,
    pr: pull.number,
    branch: `eng-${pull.number}`,
    sha: shaOf(pull),
    ...(pull.merged && { mergeSha: mergeOf(pull) }),
  });
  const ofPull = (pull: Pull, action: string): Draft =>
    line(`codehost.pr.${action}`, scopeOf(pull), {
      title: `Pull request ${pull.number}, ${counter}`,
      url: `https://codehost.example/${pull.repo}/pull/${pull.number}`,
      state: pull.state,
      draft: pull.draft,
      merged: pull.merged,
      ...(pull.mergedAt !== undefined && { mergedAt: pull.mergedAt }),
      mergeable: chance(0.8),
      mergeableState: pick(['clean', 'blocked', 'unknown', 'behind', 'dirty', 'unstable']),
    });

  function changePull(): Draft {
    const existing = pulls.length > 0 && chance(0.85) ? pick(pulls) : undefined;
    const pull = existing ?? {
      repo: pick(repos),
      number: 0,
      head: 0,
      state: 'open',
      draft: chance(0.3),
      merged: false,
    };
    if (existing === undefined) {
      pull.number = pulls.length + 1;
      pulls.push(pull);
      return ofPull(pull, 'opened');
    }
    const action = pull.merged
      ? 'labeled'
      : pick(['synchronize', 'closed', 'merged', 'reopened', 'labeled', 'ready_for_review']);
    if (action === 'synchronize') pull.head += 1;
    if (action === 'closed') pull.state = 'closed';
    if (action === 'reopened') pull.state = 'open';
    if (action === 'ready_for_review') pull.draft = false;
    if (action === 'merged')
      Object.assign(pull, { state: 'closed', merged: true, mergedAt: new Date(now).toISOString() });
    return ofPull(pull, action);
  }

  function judge(): Draft {
    const pull = pulls.length > 0 ? pick(pulls) : undefined;
    if (pull === undefined) return changePull();
    const scope = scopeOf(pull);
    switch (below(5)) {
      case 0: {
        const detail = {
          reviewer: pick(['ada', 'kim']),
          state: pick(['approved', 'changes_requested', 'commented']),
        };
        return line(
          `codehost.pr_review.${pick(['submitted', 'submitted', 'dismissed', 'edited'])}`,
          scope,
          detail,
        );
      }
      case 1:
        return line(`codehost.pr_review_thread.${pick(['resolved', 'unresolved'])}`, scope, {
          threadId: `t${below(3)}`,
        });
      case 2: {
        const detail = {
          suiteId: below(3),
          app: 'ci',
          conclusion: pick(['success', 'failure']),
          prs: [pull.number],
        };
        return line(`codehost.check_suite.${pick(['completed', 'completed', 'requested'])}`, scope, detail);
      }
      case 3: {
        const detail = { commentId: below(4), body: `Preview: https://p${below(3)}.example.app` };
        return line(`codehost.issue_comment.${pick(['created', 'edited', 'deleted'])}`, scope, detail);
      }
      default:
        return line(pick(['codehost.push', 'codehost.status.success', 'codehost.other']), scope);
    }
  }

  function deploy(): Draft {
    counter += 1;
    const pull = pulls.length > 0 ? pick(pulls) : undefined;
    if (pull === undefined) return changePull();
    const known = deployments.length > 0 && chance(0.75) ? pick(deployments.slice(-6)) : undefined;
    const sha = pick([mergeOf(pull), shaOf(pull), 'later']);
    const one = known ?? {
      repo: pull.repo,
      id: deployments.length + 1,
      sha,
      environment: pick(environments),
    };
    if (known === undefined) deployments.push(one);
    const scope = { repo: one.repo, sha: one.sha, environment: one.environment, deploymentId: one.id };
    const topic = known === undefined ? 'deployment.created' : `deployment_status.${pick(deploymentStates)}`;
    return line(`codehost.${topic}`, scope, {
      environmentUrl: `https://e${one.id}.example`,
      description: 'text',
    });
  }

  function track(): Draft {
    const detail = {
      title: `Ticket ${below(9)}`,
      state: { id: 's', name: pick(['Todo', 'In Progress', 'Done']), type: 'started' },
      assignee: pick([null, { name: 'Kim' }]),
      priority: below(5),
    };
    return line(
      `tracker.issue.${pick(['created', 'state_changed', 'updated', 'removed'])}`,
      { ticket: pick(tickets) },
      detail,
    );
  }

  function ofWorker(scope: { orchestrator: string; ticket: string }): Draft {
    const number = tickets.indexOf(scope.ticket) + 1;
    const pull = pulls.find((other) => other.number === number);
    const repo = pull?.repo ?? pick(repos);
    const signal = {
      ...scope,
      workerName: scope.ticket,
      status: pick(workerStatuses),
      phase: below(5),
      startedAt: new Date(START).toISOString(),
      updatedAt: new Date(now).toISOString(),
      repo,
      branch: `eng-${number}`,
      ...(chance(0.6) && { pr: { number, url: null } }),
    };
    const action = pick([
      'dispatched',
      'status_changed',
      'status_changed',
      'updated',
      'died',
      'revived',
      'removed',
      'corrupt',
    ]);
    return own(`orchestrator.worker.${action}`, scope, {
      signal,
      hash: `h${counter}`,
      path: '/f',
      problem: 'torn',
    });
  }

  /** What a project says about a repository changes now and then; the first is never verified. */
  function configured(): Draft {
    const policy = {
      timeoutSec: 1800,
      productionEnvironment: 'production',
      stagingEnvironment: 'staging',
      skipDeployVerification: false,
      acceptDescendants: true,
    };
    const policies = Object.fromEntries(repos.slice(1).map((repo) => [repo, policy]));
    const detail = { project: '/src', served: chance(0.9), keys: [], deploy: policies, others: 'default' };
    return { event: 'monitor.config.applied', source: 'monitor', via: 'local', scope: {}, detail };
  }

  function ours(): Draft {
    counter += 1;
    if (counter === 1 || chance(0.02)) return configured();
    const scope = { orchestrator: pick(orchestrators), ticket: pick(tickets) };
    const merged = pulls.find((pull) => pull.merged);
    const reason = pick(['worker-dead', 'pr-closed', 'deploy-timeout', 'feed-blind', 'other']);
    switch (below(8)) {
      case 0:
        return own(`orchestrator.deploy.${pick(['timed_out', 'retried', 'accepted'])}`, scope, { by: 'ada' });
      case 1:
        return own(
          'orchestrator.deploy.descendant_checked',
          { ...scope, mergeSha: merged ? mergeOf(merged) : 'none', sha: 'later' },
          { contains: chance(0.7), by: 'git' },
        );
      case 2:
        return own(
          `comms.${pick(['attention', 'attention_resolved', 'attention_acknowledged', 'attention_snoozed', 'attention_handed_over'])}`,
          scope,
          {
            reason,
            message: 'text',
            severity: 'low',
            by: 'ada',
            until: '2026-02-01T00:00:00Z',
            to: 'grace',
          },
        );
      case 3:
        return own(`workflow.ticket.${pick(['phase_changed', 'state_moved'])}`, scope, {
          to: pick(ticketPhases),
        });
      case 4:
        return own(
          pick([
            'monitor.feed.live',
            'monitor.feed.blind',
            'orchestrator.run.started',
            'orchestrator.wave.started',
          ]),
          scope,
          {
            feed: 'codehost',
            wave: below(3),
            tickets: [scope.ticket],
          },
        );
      default:
        return ofWorker(scope);
    }
  }

  const upstream = (): Draft => pick([changePull, judge, judge, deploy, deploy, track])();
  return { upstream, ours };
}

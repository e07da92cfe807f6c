// The views of a board that was folded from a log, from dispatch to production.

import { describe, expect, test } from 'vitest';
import { type Board } from '../../kernel/board/board.ts';
import { withPolicyOf } from '../../kernel/board/testing/lines.ts';
import type { EventLine } from '../../kernel/log/event-line.ts';
import { attentionView } from '../attention/attention-view.ts';
import { emptyBoard, foldLine } from '../board.ts';
import { receipt } from '../tickets/receipt.ts';
import { whyTicket } from '../why/why.ts';
import { boardView } from './board-view.ts';

const mergeSha = 'a'.repeat(40);
const headSha = 'c'.repeat(40);
const policy = {
  timeoutSec: 1800,
  productionEnvironment: 'production',
  stagingEnvironment: 'staging',
  skipDeployVerification: false,
  acceptDescendants: true,
};
const worker = { orchestrator: 'run-1', ticket: 'ENG-1', worker: 'w1' };
const pullRequest = { repo: 'acme/web', pr: 12, ticket: 'ENG-1', branch: 'eng-1', sha: headSha };
const deployment = { repo: 'acme/web', environment: 'production', deploymentId: 41, sha: mergeSha };

const signal = (status: string): object => ({
  ticket: 'ENG-1',
  orchestrator: 'run-1',
  workerName: 'w1',
  status,
  phase: 'ship',
  startedAt: '2026-01-02T09:00:00.000Z',
  updatedAt: '2026-01-02T10:00:00.000Z',
  repo: 'acme/web',
  branch: 'eng-1',
  pr: { number: 12 },
});

type Line = Pick<EventLine, 'event' | 'scope' | 'detail'> & { via?: EventLine['via'] };

const opened: Line = {
  event: 'codehost.pr.opened',
  scope: pullRequest,
  detail: { title: 'Log in', state: 'open', mergeable: true, mergeableState: 'clean' },
};
const created: Line = {
  event: 'orchestrator.worker.dispatched',
  scope: worker,
  detail: { signal: signal('pr-created'), hash: 'h1' },
};
const merged: Line = {
  event: 'codehost.pr.merged',
  scope: { ...pullRequest, mergeSha },
  detail: { state: 'closed', merged: true, mergedAt: '2026-01-02T11:00:00.000Z' },
};
const status = (state: string, via: EventLine['via'] = 'live'): Line => ({
  event: `codehost.deployment_status.${state}`,
  scope: deployment,
  detail: { state },
  via,
});

function boardOf(...lines: Line[]): Board {
  const board = withPolicyOf(emptyBoard(), 'acme/web', policy);
  lines.forEach((line, index) =>
    foldLine(board, {
      source: 'codehost.webhook',
      via: 'live',
      ...line,
      seq: index + 1,
      ts: `2026-01-02T11:0${index}:00.000Z`,
    }),
  );
  return board;
}
const now = Date.parse('2026-01-02T11:10:00.000Z');

describe('from dispatch to production', () => {
  test('before the merge', () => {
    const board = boardOf(opened, created);
    expect(whyTicket(board, 'ENG-1', now)).toMatchObject({
      status: 'pr-created',
      waitsFor: 'acme/web#12 to be merged (it is ready)',
      contradictions: [],
    });
    expect(receipt(board, 'ENG-1')?.shipped).toBe(false);
  });

  test('merged, with a deadline', () => {
    expect(whyTicket(boardOf(opened, created, merged), 'ENG-1', now)).toMatchObject({
      status: 'merged',
      rule: 'acme/web#12 is merged, but no deployment to production has started.',
      waitsFor: 'a deployment of aaaaaaa to production',
      until: '2026-01-02T11:30:00.000Z',
    });
  });

  test('in production, as a poll found', () => {
    const board = boardOf(opened, created, merged, status('in_progress'), status('success', 'poll'));
    expect(whyTicket(board, 'ENG-1', now)).toMatchObject({
      status: 'done',
      rule: 'Deployment 41 of aaaaaaa to production succeeded.',
      waitsFor: null,
    });
    const found = receipt(board, 'ENG-1');
    expect(found).toMatchObject({ shipped: true });
    expect(found?.links.map(({ link, grade }) => `${link} ${grade}`)).toEqual([
      'ticket claimed',
      'pull-request observed',
      'checks missing',
      'merge observed',
      'deployment fetched',
    ]);
    expect(boardView(board)).toMatchObject({
      seq: 5,
      workers: [{ status: 'done', pullRequest: 'acme/web#12' }],
    });
  });

  test('facts that only polls reported are fetched, up to a closed pull request', () => {
    const ticket: Line = {
      event: 'tracker.issue.updated',
      scope: { ticket: 'ENG-1' },
      detail: { title: 'Log in', state: { id: 's1', name: 'In Review', type: 'started' } },
      via: 'poll',
    };
    const closed: Line = {
      event: 'codehost.pr.closed',
      scope: pullRequest,
      detail: { state: 'closed', merged: false },
      via: 'poll',
    };
    const board = boardOf(ticket, { ...opened, via: 'poll' }, created, closed);
    const grades = receipt(board, 'ENG-1')?.links.map(({ link, grade }) => `${link} ${grade}`);
    expect(grades?.slice(0, 2)).toEqual(['ticket fetched', 'pull-request fetched']);
    const facts = whyTicket(board, 'ENG-1', now)?.facts.map(({ source, text }) => `${source}: ${text}`);
    expect(facts).toEqual([
      'fetched: The tracker reports In Review.',
      'fetched: acme/web#12 was opened.',
      'claimed: The agent says: in review.',
      'fetched: acme/web#12 was closed without a merge.',
    ]);
  });

  test('a fact that a delivery reports after a poll is observed', () => {
    const moved: Line = {
      event: 'tracker.issue.state_changed',
      scope: { ticket: 'ENG-1' },
      detail: { title: 'Log in', state: { id: 's1', name: 'In Review', type: 'started' } },
    };
    const phase: Line = {
      event: 'workflow.ticket.phase_changed',
      scope: { ticket: 'ENG-1' },
      detail: { to: 'inReview' },
    };
    const board = boardOf({ ...moved, via: 'poll' }, moved, { ...phase, via: 'local' });
    expect(receipt(board, 'ENG-1')?.links[0]).toMatchObject({ link: 'ticket', grade: 'observed' });
  });

  test('stalled after the deadline, with an attention item', () => {
    const timedOut: Line = {
      event: 'orchestrator.deploy.timed_out',
      scope: { ...worker, mergeSha },
      detail: {},
    };
    const board = boardOf(opened, created, merged);
    const effects = foldLine(board, {
      ...timedOut,
      source: 'monitor',
      via: 'local',
      seq: 4,
      ts: '2026-01-02T11:30:01.000Z',
    });
    expect(whyTicket(board, 'ENG-1', now)).toMatchObject({
      status: 'stalled',
      rule: 'No deployment to production succeeded by the deadline 2026-01-02T11:30:00.000Z.',
    });
    for (const effect of effects)
      if (effect.kind === 'append')
        foldLine(board, { ...effect.draft, seq: board.seq + 1, ts: board.at ?? '' });
    expect(attentionView(board, now).open).toMatchObject([
      { id: 'run-1/ENG-1/deploy-timeout', severity: 'high', remedy: 'svc deploy retry ENG-1' },
    ]);
  });

  test('an unproven claim', () => {
    const claim: Line = {
      event: 'orchestrator.worker.status_changed',
      scope: worker,
      detail: { from: 'pr-created', to: 'done', signal: signal('done'), hash: 'h2' },
    };
    expect(whyTicket(boardOf(opened, created, claim), 'ENG-1', now)).toMatchObject({
      status: 'pr-created',
      rule: 'The agent says: done, but no observed event proves it, so the status stays in review.',
      waitsFor: 'a merge, or a person: svc deploy accept ENG-1',
      contradictions: ['The agent says: done, but the observed events show in review.'],
    });
  });
});

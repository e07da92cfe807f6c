// Table tests of deployments, tickets, runs, attention items and feeds.

import { describe, expect, test } from 'vitest';
import { type FoldedLine } from '../kernel/board/board.ts';
import { logged, moment, reduced } from '../kernel/board/testing/lines.ts';
import { reduceAttention } from './attention/reduce-attention.ts';
import { reduceDeployment } from './deploy/fold-deployment.ts';
import { reduceRun } from './runs/fold-run.ts';
import { reduceFeed, reduceTicket } from './tracker/fold-tickets.ts';

describe('reduceDeployment', () => {
  const scope = { repo: 'acme/web', sha: 'm', environment: 'production', deploymentId: 7, ref: 'main' };
  const created = logged(1, 'codehost.deployment.created', {
    scope,
    detail: { productionEnvironment: true },
  });
  const status = (seq: number, state: string, at = seq, detail = {}): FoldedLine =>
    logged(seq, `codehost.deployment_status.${state}`, { scope, detail, occurredAt: moment(at) });
  test.each<[string, FoldedLine[], object]>([
    ['created', [created], { id: 7, sha: 'm', state: 'created', production: true, ref: 'main' }],
    [
      'progresses',
      [created, status(2, 'in_progress'), status(3, 'success')],
      { state: 'success', stateAt: moment(3) },
    ],
    ['each state once', [created, status(2, 'success'), status(3, 'success')], { states: { length: 2 } }],
    [
      'late',
      [created, status(3, 'success'), status(4, 'in_progress', 2)],
      { state: 'success', states: { length: 3 } },
    ],
    [
      'in the same second',
      [created, status(3, 'success', 2), status(4, 'in_progress', 2)],
      { state: 'success' },
    ],
    ['inactive', [created, status(2, 'success'), status(3, 'inactive')], { state: 'inactive' }],
    [
      'the start was missed',
      [status(2, 'failure', 2, { description: 'no' })],
      { state: 'failure', description: 'no' },
    ],
  ])('%s', (_name, lines, expected) => {
    expect(reduced(reduceDeployment, lines)).toMatchObject(expected);
  });

  test('a late status does not move it to another environment', () => {
    const staging = { ...status(3, 'success', 1), scope: { ...scope, environment: 'staging' } };
    expect(reduced(reduceDeployment, [created, status(2, 'in_progress'), staging])).toMatchObject({
      environment: 'production',
      state: 'in_progress',
      states: [
        { state: 'created', environment: 'production' },
        { state: 'in_progress', environment: 'production' },
        { state: 'success', environment: 'staging' },
      ],
    });
  });

  test('a deployment without a commit is ignored', () => {
    const line = { ...created, scope: { repo: 'acme/web', deploymentId: 7 } };
    expect(reduced(reduceDeployment, [line])).toBeUndefined();
  });
});

describe('reduceTicket', () => {
  const scope = { ticket: 'ENG-1' };
  const issue = (seq: number, action: string, detail: object = {}, at = seq): FoldedLine =>
    logged(seq, `tracker.issue.${action}`, { scope, detail: { ...detail }, occurredAt: moment(at) });
  const todo = {
    title: 'Login',
    state: { id: 's1', name: 'Todo', type: 'unstarted' },
    assignee: { name: 'Kim' },
  };
  test.each<[string, FoldedLine[], object]>([
    ['created', [issue(1, 'created', todo)], { title: 'Login', state: { name: 'Todo' }, assignee: 'Kim' }],
    ['unassigned', [issue(1, 'created', todo), issue(2, 'updated', { assignee: null })], { assignee: null }],
    [
      'late',
      [issue(5, 'updated', todo), issue(6, 'created', { title: 'Old' }, 1)],
      { title: 'Login', lastSeq: 6 },
    ],
    ['removed', [issue(1, 'created', todo), issue(2, 'removed')], { removed: true, title: 'Login' }],
    [
      'our phase',
      [logged(3, 'workflow.ticket.phase_changed', { scope, detail: { to: 'inReview' } })],
      { phase: { phase: 'inReview', at: moment(4), seq: 3 } },
    ],
    [
      'our move',
      [
        issue(1, 'created', todo),
        logged(3, 'workflow.ticket.state_moved', { scope, detail: { to: 'Done', phase: 'done' } }),
      ],
      { state: { name: 'Done', type: null }, phase: { phase: 'done' } },
    ],
  ])('%s', (_name, lines, expected) => {
    expect(reduced(reduceTicket, lines)).toMatchObject(expected);
  });

  test('an unknown phase is ignored', () => {
    const line = logged(3, 'workflow.ticket.phase_changed', { scope, detail: { to: 'lunch' } });
    expect(reduced(reduceTicket, [line])).toBeUndefined();
  });
});

describe('reduceRun', () => {
  const scope = { orchestrator: 'run-1' };
  const run = (seq: number, what: string, detail: object = {}): FoldedLine =>
    logged(seq, `orchestrator.${what}`, { scope: { ...scope, ticket: 'ENG-9' }, detail: { ...detail } });
  const started = run(1, 'run.started', { name: 'Login', tickets: ['ENG-1', 'ENG-2'], maxParallel: 3 });
  test.each<[string, FoldedLine[], object]>([
    ['started', [started], { state: 'running', name: 'Login', tickets: ['ENG-1', 'ENG-2'], maxParallel: 3 }],
    ['paused', [started, run(2, 'run.paused')], { state: 'paused' }],
    ['resumed', [started, run(2, 'run.paused'), run(3, 'run.resumed')], { state: 'running' }],
    ['completed', [started, run(2, 'run.completed')], { state: 'completed', endedAt: moment(3) }],
    ['canceled', [started, run(2, 'run.canceled')], { state: 'canceled' }],
    ['only workers', [run(1, 'worker.dispatched')], { state: 'unknown', tickets: ['ENG-9'] }],
    [
      'waves',
      [
        started,
        run(2, 'wave.started', { wave: 1, tickets: ['ENG-1'] }),
        run(3, 'wave.completed', { wave: 1 }),
      ],
      { waves: [{ wave: 1, state: 'completed', tickets: ['ENG-1'], seq: 3 }] },
    ],
  ])('%s', (_name, lines, expected) => {
    expect(reduced(reduceRun, lines)).toMatchObject(expected);
  });
});

describe('reduceAttention', () => {
  const scope = { orchestrator: 'run-1', ticket: 'ENG-1' };
  const line = (seq: number, name: string, detail: object = {}): FoldedLine =>
    logged(seq, `comms.${name}`, {
      scope,
      detail: { reason: 'worker-dead', message: 'Gone', severity: 'high', ...detail },
    });
  test.each<[string, FoldedLine[], object | undefined]>([
    [
      'raised',
      [line(1, 'attention', { evidence: [5] })],
      { id: 'run-1/ENG-1/worker-dead', evidence: [5], times: 1, severity: 'high', openedSeq: 1 },
    ],
    [
      'raised again',
      [line(1, 'attention'), line(2, 'attention', { message: 'Still gone' })],
      { evidence: [1, 2], times: 2, openedSeq: 1, message: 'Still gone' },
    ],
    ['resolved', [line(1, 'attention'), line(2, 'attention_resolved')], undefined],
    [
      'acknowledged',
      [line(1, 'attention'), line(2, 'attention_acknowledged', { by: 'ada' }), line(3, 'attention')],
      { acknowledged: { by: 'ada', at: moment(3) } },
    ],
    [
      'snoozed',
      [line(1, 'attention'), line(2, 'attention_snoozed', { until: moment(99) })],
      { snoozedUntil: moment(99) },
    ],
    [
      'snoozed until nonsense',
      [line(1, 'attention'), line(2, 'attention_snoozed', { until: 'x' })],
      { snoozedUntil: null },
    ],
    [
      'handed over, then raised again',
      [
        line(1, 'attention'),
        line(2, 'attention_handed_over', { to: 'grace', by: 'ada', note: 'it is your deploy' }),
        line(3, 'attention'),
      ],
      { times: 2, handedOver: { to: 'grace', by: 'ada', at: moment(3), note: 'it is your deploy' } },
    ],
    [
      'handed over twice',
      [
        line(1, 'attention'),
        line(2, 'attention_handed_over', { to: 'grace', by: 'ada', note: 'x' }),
        line(3, 'attention_handed_over', { to: 'alan', by: 'grace' }),
      ],
      { handedOver: { to: 'alan', by: 'grace', at: moment(4), note: null } },
    ],
    [
      'handed over without a recipient',
      [line(1, 'attention'), line(2, 'attention_handed_over', { by: 'ada' })],
      { handedOver: null },
    ],
    [
      'handed over, resolved, raised again',
      [
        line(1, 'attention'),
        line(2, 'attention_handed_over', { to: 'grace', by: 'ada' }),
        line(3, 'attention_resolved'),
        line(4, 'attention'),
      ],
      { times: 1, handedOver: null },
    ],
    ['handed over, not open', [line(2, 'attention_handed_over', { to: 'grace' })], undefined],
    ['acknowledged, not open', [line(2, 'attention_acknowledged')], undefined],
  ])('%s', (_name, lines, expected) => {
    const item = reduced(reduceAttention, lines);
    if (expected === undefined) expect(item).toBeUndefined();
    else expect(item).toMatchObject(expected);
  });

  test('keeps the newest 20 pieces of evidence', () => {
    const lines = Array.from({ length: 30 }, (_, index) => line(index + 1, 'attention'));
    const item = reduced(reduceAttention, lines);
    expect(item).toMatchObject({ evidence: lines.slice(10).map(({ seq }) => seq), times: 30 });
  });
});

describe('reduceFeed', () => {
  const feed = (seq: number, grade: string, detail: object = {}): FoldedLine =>
    logged(seq, `monitor.feed.${grade}`, { detail: { feed: 'codehost', ...detail } });
  test.each<[string, FoldedLine[], object]>([
    ['live', [feed(1, 'live')], { grade: 'live', since: moment(2) }],
    ['still live', [feed(1, 'live'), feed(2, 'live')], { since: moment(2), lastSeq: 2 }],
    [
      'blind',
      [feed(1, 'live'), feed(2, 'blind', { reason: 'no answer', since: moment(0) })],
      { grade: 'blind', since: moment(0), reason: 'no answer' },
    ],
  ])('%s', (_name, lines, expected) => {
    expect(reduced(reduceFeed, lines)).toMatchObject(expected);
  });
});

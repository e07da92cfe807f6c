import { axisScale, foldIdle } from '@svc/lib/time-axis';
import { createRandom } from '@svc/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type FoldedLine } from '../../kernel/board/board.ts';
import { randomTape } from '../../kernel/board/testing/tape.ts';
import { type TraceSubject, traceOf } from './trace.ts';
import type { TraceSpan } from './trace-span.ts';

const head = 'a'.repeat(40);
const merge = 'b'.repeat(40);
const subject: TraceSubject = {
  ticket: 'ENG-1',
  orchestrator: 'run-1',
  pullRequests: [{ repo: 'acme/web', number: 7 }],
  commits: [head, merge],
};
const at = (minute: number): string => new Date(Date.UTC(2026, 0, 2, 9, minute)).toISOString();
const NOW = Date.parse(at(600));

let count = 0;
function line(
  minute: number,
  event: string,
  scope: FoldedLine['scope'] = {},
  detail: object = {},
): FoldedLine {
  count += 1;
  const source = event.startsWith('codehost.') ? 'codehost.webhook' : 'orchestrator';
  return {
    seq: count,
    ts: at(minute),
    event,
    source,
    via: 'live',
    scope,
    detail: { ...detail },
  };
}
const worker = (minute: number, event: string, detail: object = {}) =>
  line(minute, event, { ticket: 'ENG-1', orchestrator: 'run-1' }, detail);
const status = (minute: number, to: string) => worker(minute, 'orchestrator.worker.status_changed', { to });
const pr = (minute: number, action: string, detail: object = {}, more: object = {}) =>
  line(minute, `codehost.pr.${action}`, { repo: 'Acme/Web', pr: 7, sha: head, ...more }, detail);
const suite = (minute: number, action: string, detail: object = {}) =>
  line(
    minute,
    `codehost.check_suite.${action}`,
    { repo: 'acme/web', sha: head },
    { suiteId: 5, app: 'ci', ...detail },
  );
const deployment = (minute: number, state: string, detail: object = {}) =>
  line(
    minute,
    state === 'created' ? 'codehost.deployment.created' : `codehost.deployment_status.${state}`,
    { repo: 'acme/web', deploymentId: 9, sha: merge, environment: 'production' },
    detail,
  );

function trace(...lines: FoldedLine[]) {
  return traceOf(subject, lines, { now: NOW });
}
/** `kind label state start-end`, in minutes. */
function shown({ spans }: { spans: TraceSpan[] }): string[] {
  const minute = (time: string | null): string =>
    time === null ? '' : String((Date.parse(time) - Date.parse(at(0))) / 60_000);
  return spans.map(
    ({ kind, label, state, start, end }) => `${kind} ${label} ${state} ${minute(start)}-${minute(end)}`,
  );
}

describe('spans', () => {
  test.each<[string, () => FoldedLine[], string[]]>([
    ['nothing', () => [], []],
    [
      'phases follow one another; the last status is a point in time',
      () => [
        worker(0, 'orchestrator.worker.dispatched', { signal: { status: 'dispatched' } }),
        status(2, 'implementing'),
        worker(3, 'orchestrator.worker.updated', { signal: { status: 'implementing' } }),
        status(10, 'done'),
      ],
      ['phase dispatched ended 0-2', 'phase implementing ended 2-10', 'phase done succeeded 10-10'],
    ],
    ['a running phase', () => [status(1, 'planning')], ['phase planning running 1-']],
    [
      'a failed deploy, then another one',
      () => [status(1, 'deploy-failed'), status(4, 'deploying')],
      ['phase deploy-failed failed 1-4', 'phase deploying running 4-'],
    ],
    [
      'a process that dies and is revived',
      () => [worker(1, 'orchestrator.worker.died'), worker(3, 'orchestrator.worker.revived')],
      ['wait No process running ended 1-3'],
    ],
    [
      'an attention item until it is resolved, however often it is raised',
      () => [
        worker(1, 'comms.attention', { reason: 'worker-dead', message: 'It is gone' }),
        worker(2, 'comms.attention', { reason: 'worker-dead', message: 'Still' }),
        worker(9, 'comms.attention_resolved', { reason: 'worker-dead' }),
      ],
      ['wait Needs a person: worker-dead ended 1-9'],
    ],
    [
      'a pull request with its reviews, from the review request if there was one',
      () => [
        pr(1, 'opened', { state: 'open', url: 'https://codehost.example/7' }),
        pr(2, 'review_requested', { state: 'open', requestedReviewer: 'kim' }),
        line(
          5,
          'codehost.pr_review.submitted',
          { repo: 'acme/web', pr: 7 },
          { reviewer: 'kim', state: 'changes_requested' },
        ),
        line(
          8,
          'codehost.pr_review.submitted',
          { repo: 'acme/web', pr: 7 },
          { reviewer: 'kim', state: 'approved' },
        ),
        pr(9, 'merged', { state: 'closed', merged: true }, { mergeSha: merge }),
      ],
      [
        'pull-request Acme/Web#7 succeeded 1-9',
        'wait Waiting for review ended 1-5',
        'review Review by kim failed 2-5',
        'review Review by kim succeeded 8-8',
        'merge Acme/Web#7 merged succeeded 9-9',
        'wait Waiting for deployment running 9-',
      ],
    ],
    [
      'a pull request that was opened before the log started',
      () => [pr(5, 'synchronize', { state: 'open', createdAt: at(2) }), pr(6, 'closed', { state: 'closed' })],
      ['pull-request Acme/Web#7 ended 2-6'],
    ],
    [
      'only the merge was reported',
      () => [pr(5, 'merged', { state: 'closed', createdAt: at(1) })],
      ['pull-request Acme/Web#7 succeeded 1-5', 'merge Acme/Web#7 merged succeeded 5-5'],
    ],
    [
      'checks from their request, and run again',
      () => [
        suite(1, 'requested'),
        suite(4, 'completed', { conclusion: 'failure' }),
        suite(5, 'rerequested'),
        suite(9, 'completed', { conclusion: 'success' }),
      ],
      ['checks ci failed 1-4', 'checks ci succeeded 5-9'],
    ],
    [
      'checks without a start event start with their commit',
      () => [
        pr(1, 'opened', { state: 'open', draft: true }),
        suite(4, 'completed', { conclusion: 'success' }),
        suite(7, 'completed', { conclusion: 'cancelled' }),
      ],
      ['pull-request Acme/Web#7 running 1-', 'checks ci succeeded 1-4', 'checks ci ended 7-7'],
    ],
    [
      'a commit status',
      () => [
        line(1, 'codehost.status.pending', { repo: 'acme/web', sha: head }, { context: 'lint' }),
        line(3, 'codehost.status.error', { repo: 'acme/web', sha: head }, { context: 'lint' }),
      ],
      ['checks lint failed 1-3'],
    ],
    [
      'a deployment ends once, whatever is reported later',
      () => [
        deployment(1, 'created'),
        deployment(2, 'in_progress'),
        deployment(5, 'success', { environmentUrl: 'https://shop.example' }),
        deployment(50, 'inactive'),
        deployment(51, 'in_progress'),
      ],
      ['deployment production succeeded 1-5'],
    ],
    ['only its failure was reported', () => [deployment(3, 'failure')], ['deployment production failed 3-3']],
    [
      'verification',
      () => [
        worker(1, 'orchestrator.verification.started'),
        worker(4, 'orchestrator.verification.failed', { summary: '2 tests are skipped' }),
        worker(9, 'orchestrator.verification.passed'),
      ],
      ['verification Verification failed 1-4', 'verification Verification succeeded 9-9'],
    ],
    [
      'events of another run, pull request or commit are ignored',
      () => [
        line(
          1,
          'orchestrator.worker.status_changed',
          { ticket: 'ENG-1', orchestrator: 'run-2' },
          { to: 'planning' },
        ),
        line(
          1,
          'orchestrator.worker.status_changed',
          { ticket: 'ENG-2', orchestrator: 'run-1' },
          { to: 'planning' },
        ),
        line(2, 'codehost.pr.opened', { repo: 'acme/web', pr: 8, ticket: 'ENG-1' }, { state: 'open' }),
        line(3, 'codehost.check_suite.requested', { repo: 'acme/web', sha: 'c'.repeat(40) }),
      ],
      [],
    ],
  ])('%s', (_, lines, expected) => {
    expect(shown(trace(...lines()))).toEqual(expected);
  });

  test('each with the events that prove it', () => {
    const lines = [status(1, 'planning'), status(5, 'implementing')];
    expect(trace(...lines).spans).toMatchObject([
      { startSeq: lines[0]?.seq, endSeq: lines[1]?.seq, end: at(5) },
      { startSeq: lines[1]?.seq, endSeq: null, end: null },
    ]);
  });

  test('a span starts when it happened, never later than it was accepted', () => {
    const late = { ...status(30, 'planning'), occurredAt: at(10) };
    const wrong = { ...status(31, 'implementing'), occurredAt: at(99) };
    expect(shown(trace(late, wrong))).toEqual([
      'phase planning ended 10-31',
      'phase implementing running 31-',
    ]);
  });
});

describe('the axis', () => {
  const span = (start: number, end: number | null) => ({
    start: at(start),
    end: end === null ? null : at(end),
  });
  const folds = (segments: ReturnType<typeof foldIdle>): string[] =>
    segments.map(({ from, to, folded }) => {
      const minute = (time: string): number => (Date.parse(time) - Date.parse(at(0))) / 60_000;
      return `${minute(from)}-${minute(to)}${folded ? ' folded' : ''}`;
    });

  test.each<[string, ReturnType<typeof span>[], number[], string[]]>([
    ['nothing', [], [], []],
    ['a point in time', [span(5, 5)], [], ['5-5']],
    ['work without a pause', [span(0, 100), span(50, 170)], [], ['0-170']],
    ['three hours are not folded', [span(0, 10), span(190, 200)], [], ['0-200']],
    ['a night', [span(0, 10), span(191, 200)], [], ['0-10', '10-191 folded', '191-200']],
    ['a night during a phase', [span(0, 400)], [], ['0-400 folded']],
    ['an event in the night', [span(0, 400)], [200], ['0-200 folded', '200-400 folded']],
    ['a running span reaches until now', [span(590, null)], [], ['590-600']],
    ['an event outside all spans', [span(10, 20)], [5, 900], ['10-20']],
  ])('%s', (_, spans, moments, expected) => {
    expect(folds(foldIdle(spans, NOW, moments.map(at)))).toEqual(expected);
  });

  test('folded segments have the same small width, and take at most half of the axis', () => {
    const x = axisScale(foldIdle([span(0, 60), span(560, 620)], NOW));
    expect(x(Date.parse(at(0)))).toBe(0);
    expect(x(Date.parse(at(60)))).toBeCloseTo(0.485);
    expect(x(Date.parse(at(560)))).toBeCloseTo(0.515);
    expect(x(Date.parse(at(620)))).toBeCloseTo(1);
    expect(x(Date.parse(at(9_999)))).toBeCloseTo(1);
    expect(x(0)).toBe(0);
    expect(axisScale([])(5)).toBe(0);
    const many = Array.from({ length: 40 }, (__, index) => span(index * 300, index * 300 + 10));
    const scale = axisScale(foldIdle(many, NOW));
    expect(scale(Date.parse(at(10)))).toBeCloseTo(0.5 / 40);
  });
});

describe('over random tapes', () => {
  test('spans are in order and inside the axis, and folding keeps the order', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), (seed) => {
        const lines = randomTape(createRandom(seed), 200).map((one, index) => {
          const ts = new Date(Date.parse(one.ts) + Math.floor(index / 20) * 6 * 3_600_000).toISOString();
          return { ...one, ts };
        });
        const whole = {
          ticket: `ENG-${(seed % 4) + 1}`,
          orchestrator: seed % 2 === 0 ? 'run-1' : null,
          pullRequests: [1, 2, 3, 4, 5].flatMap((number) => [
            { repo: 'acme/web', number },
            { repo: 'acme/api', number },
          ]),
          commits: [],
        };
        const now = Date.parse(lines.at(-1)?.ts ?? '') + 3_600_000;
        const { spans, axis, from, to } = traceOf(whole, lines, { now });
        const times = spans.map(({ start }) => Date.parse(start));
        expect(times).toEqual(times.toSorted((a, b) => a - b));
        expect(new Set(spans.map(({ id }) => id)).size).toBe(spans.length);
        const seqs = new Set(lines.map(({ seq }) => seq));
        for (const { start, end, startSeq, endSeq, state } of spans) {
          expect(Date.parse(start)).toBeGreaterThanOrEqual(Date.parse(from ?? ''));
          expect(Date.parse(end ?? start)).toBeLessThanOrEqual(Date.parse(to ?? ''));
          expect(Date.parse(end ?? start)).toBeGreaterThanOrEqual(Date.parse(start));
          expect(seqs.has(startSeq)).toBe(true);
          expect(end === null).toBe(state === 'running');
          expect(endSeq === null || (seqs.has(endSeq) && endSeq >= startSeq)).toBe(true);
        }
        for (const [index, segment] of axis.entries())
          if (index > 0) expect(segment.from).toBe(axis[index - 1]?.to);
        const scale = axisScale(axis);
        const positions = times.map(scale);
        expect(positions).toEqual(positions.toSorted((a, b) => a - b));
        expect(positions.every((position) => position >= 0 && position <= 1)).toBe(true);
      }),
      { numRuns: 40 },
    );
  });
});

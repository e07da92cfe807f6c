import { SignalFile, safeSegment } from '@svc/contract/signal-file';
import { canonicalJson } from '@svc/lib/canonical-json';
import { utf8Length } from '@svc/lib/cut-text';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cutToFit } from '../../kernel/log/cut-to-fit.ts';
import { type EventFields, parseEventDraft } from '../../kernel/log/event-line.ts';
import { topics } from '../topics.ts';
import {
  type SignalContext,
  signalChanges,
  signalCorrupt,
  signalRemoved,
  workerDied,
} from './signal-changes.ts';

function signal(more: Partial<SignalFile> = {}): SignalFile {
  return {
    ticket: 'ENG-42',
    orchestrator: 'orch-1',
    workerName: 'orch-1-ENG-42',
    status: 'implementing',
    phase: 'implement',
    startedAt: '2026-01-02T03:04:05Z',
    updatedAt: '2026-01-02T03:04:05Z',
    ...more,
  };
}

const context: SignalContext = { hash: 'h' };
const changes = (previous: SignalFile | null, now: SignalFile, more: Partial<SignalContext> = {}) =>
  signalChanges(previous, now, { ...context, ...more }).map(({ event, detail }: EventFields) => {
    const { signal: _signal, hash: _hash, ...rest } = detail;
    return [event.replace('orchestrator.worker.', ''), rest];
  });

describe('the line for a change', () => {
  test('a new file', () => {
    const dispatched = signal({ status: 'dispatched', worktreePath: '/wt' });
    expect(changes(null, dispatched)).toEqual([['dispatched', { worktreePath: '/wt' }]]);
    expect(changes(null, signal({ status: 'dispatched' }))).toEqual([['dispatched', {}]]);
    expect(changes(null, signal({ status: 'done' }))).toEqual([['status_changed', { to: 'done' }]]);
  });

  test('status before phase before the rest', () => {
    const before = signal({ error: 'x' });
    const phase = signal({ phase: 4, pid: 5 });
    const status = signal({ ...phase, status: 'validating' });
    expect(changes(before, signal({ pid: 5 }))).toEqual([['updated', { changed: ['error', 'pid'] }]]);
    expect(changes(before, phase)).toEqual([
      ['phase_changed', { from: 'implement', to: 4, changed: ['phase', 'error', 'pid'] }],
    ]);
    expect(changes(before, status)).toEqual([
      [
        'status_changed',
        { from: 'implementing', to: 'validating', changed: ['status', 'phase', 'error', 'pid'] },
      ],
    ]);
  });

  test('neither a heartbeat nor another order of keys is a change; null differs from absent', () => {
    const now = signal({ pr: { number: 1, url: null } });
    expect(changes(now, { ...now, updatedAt: '2026-01-02T03:04:06Z' })).toEqual([]);
    expect(changes(now, { ...now, pr: { url: null, number: 1 } })).toEqual([]);
    expect(changes(signal(), signal({ error: null }))).toEqual([['updated', { changed: ['error'] }]]);
  });

  test('a file that is back is reported even if it is unchanged', () => {
    expect(changes(signal(), signal(), { returned: true })).toEqual([['updated', { changed: [] }]]);
  });

  test('has the whole file, its scope, and the time at which it was written', () => {
    const now = signal({
      branch: 'ENG-42-x',
      updatedAt: '2026-01-02T04:04:05+01:00',
      pr: { number: 7, url: 'https://codehost.example.test/acme/web/pull/7', mergeSha: 'abc' },
      deploy: { environment: 'production', deploymentId: 9 },
      own: { a: [1] },
    });
    expect(signalChanges(signal(), now, context)).toEqual([
      {
        event: 'orchestrator.worker.updated',
        source: 'orchestrator',
        via: 'local',
        occurredAt: '2026-01-02T04:04:05+01:00',
        scope: {
          ticket: 'ENG-42',
          orchestrator: 'orch-1',
          worker: 'orch-1-ENG-42',
          repo: 'acme/web',
          pr: 7,
          branch: 'ENG-42-x',
          mergeSha: 'abc',
          environment: 'production',
          deploymentId: 9,
        },
        detail: { changed: ['branch', 'pr', 'deploy', 'own'], signal: now, hash: 'h' },
      },
    ]);
  });
});

describe('a large file', () => {
  const nasty = '\u0001'.repeat(3_000);
  const large = signal({
    error: nasty,
    branch: nasty,
    workerName: nasty,
    phase: nasty,
    own: nasty,
    startedAt: `2026-01-02T03:04:05.${'1'.repeat(90_000)}Z`,
    pr: { number: 7, url: nasty, state: nasty, mergeState: nasty, ciStatus: nasty, mergeSha: nasty },
    deploy: {
      environment: nasty,
      result: nasty,
      attempts: Array.from({ length: 100 }, (_, id) => ({
        deploymentId: id,
        description: nasty,
        logUrl: nasty,
        failedAt: '2026-01-02T03:04:05Z',
      })),
    },
    verification: { text: '\u0001'.repeat(600) },
    phaseTimestamps: Object.fromEntries(
      Array.from({ length: 90 }, (_, key) => [`p${key}`, '2026-01-02T03:04:05Z']),
    ),
  });

  test('is reported with the known fields and short texts, and is still a valid signal file', () => {
    const [draft]: EventFields[] = signalChanges(null, large, context);
    const reported = draft?.detail['signal'];
    expect(draft?.detail['cut']).toEqual(['detail.signal']);
    expect(SignalFile.safeParse(reported).success).toBe(true);
    expect(utf8Length(JSON.stringify(reported))).toBeLessThanOrEqual(24 * 1024);
    expect(reported).not.toHaveProperty('own');
    expect(reported).toMatchObject({ startedAt: '2026-01-02T03:04:05.111Z', pr: { number: 7 } });
    expect(draft?.scope).toEqual({ ticket: 'ENG-42', orchestrator: 'orch-1', pr: 7 });
    expect(draft && cutToFit(draft)).toBe(draft);
  });

  test('is compared with what was last reported', () => {
    const [first]: EventFields[] = signalChanges(null, large, context);
    const reported = first?.detail['signal'] as SignalFile;
    expect(changes(reported, large)).toEqual([]);
    expect(changes(reported, { ...large, pid: 5 })).toMatchObject([['updated', { changed: ['pid'] }]]);
    expect(changes(large, signal())).toMatchObject([['phase_changed', {}]]);
  });

  test('nested too deep for a line is reported without its deep parts', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 60; level += 1) deep = [deep];
    const [draft]: EventFields[] = signalChanges(
      null,
      signal({ own: deep, verification: { deep } }),
      context,
    );
    expect(draft?.detail['signal']).toEqual(signal());
  });
});

test('thousands of changed fields are not all listed', () => {
  const fields = (prefix: string) =>
    Object.fromEntries(
      Array.from({ length: 1_000 }, (_, index) => [`${prefix}${'x'.repeat(10)}${index}`, 1]),
    );
  const [draft]: EventFields[] = signalChanges(
    signal(fields('a')),
    signal({ ...fields('b'), status: 'done' }),
    context,
  );
  expect(draft).toMatchObject({ event: 'orchestrator.worker.status_changed', detail: { to: 'done' } });
  expect(draft?.detail['changed']).toHaveLength(50);
  expect(draft && cutToFit(draft)).toBe(draft);
});

test('any signal file gives at most one line, a valid event that needs no cutting; after it there is no difference', () => {
  const anySignal = fc
    .tuple(
      fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })),
      fc.record(
        {
          status: fc.constantFrom('dispatched', 'merged', 'done', 'failed'),
          phase: fc.oneof(fc.string(), fc.integer()),
          error: fc.option(
            fc.tuple(fc.string(), fc.nat(60_000)).map(([text, times]) => `${text}é`.repeat(times)),
          ),
          pr: fc.option(
            fc.record({ number: fc.option(fc.nat().map((n) => n + 1)), url: fc.option(fc.webUrl()) }),
          ),
        },
        { requiredKeys: [] },
      ),
    )
    .map(([more, known]) => ({ ...more, ...signal(known as Partial<SignalFile>) }))
    .filter((value) => SignalFile.safeParse(value).success);
  fc.assert(
    fc.property(fc.option(anySignal), anySignal, (before, now) => {
      const lines: EventFields[] = signalChanges(before, now, context);
      expect(lines.length).toBeLessThanOrEqual(1);
      const [line] = lines;
      if (line === undefined) return;
      expect(parseEventDraft(topics, JSON.parse(JSON.stringify(line)))).toMatchObject({ ok: true });
      expect(cutToFit(line)).toBe(line);
      expect(signalChanges(line.detail['signal'] as SignalFile, now, context)).toEqual([]);
    }),
    { numRuns: 100 },
  );
});

test('lines for a lost file and a lost process have the known scope', () => {
  const worker = { orchestrator: 'orch-1', ticket: 'ENG-42' };
  const known = signal({ repo: 'acme/web' });
  const drafts: EventFields[] = [
    signalCorrupt(worker, { path: '/p', problem: 'x'.repeat(2_000) }, null),
    signalRemoved(worker, known),
    workerDied(worker, { pid: 5, reason: 'r' }, known),
  ];
  for (const draft of drafts) expect(parseEventDraft(topics, draft).ok).toBe(true);
  expect(drafts.map(({ scope }) => scope.repo)).toEqual([undefined, 'acme/web', 'acme/web']);
  expect(String(drafts[0]?.detail['problem']).length).toBeLessThanOrEqual(500);
});

test.each([
  ['ENG-42', true],
  ['a', true],
  ['A.b_c-1', true],
  ['x'.repeat(120), true],
  ['x'.repeat(121), false],
  ['', false],
  ['.', false],
  ['..', false],
  ['.hidden', false],
  ['a/b', false],
  ['a\\b', false],
  ['a b', false],
  ['a\n', false],
  ['a\0', false],
  ['é', false],
])('safeSegment(%j) is %j', (text, safe) => {
  expect(safeSegment(text)).toBe(safe);
});

test('canonicalJson is JSON, and the same for every order of keys', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const plain: unknown = JSON.parse(JSON.stringify(value));
      expect(JSON.parse(canonicalJson(plain))).toEqual(plain);
    }),
  );
  expect(canonicalJson({ b: [{ d: 1, c: null }], a: 'x' })).toBe('{"a":"x","b":[{"c":null,"d":1}]}');
});

import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SignalFile } from '@svc/contract/signal-file';
import { temporaryFolder } from '@svc/testkit';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type EventDraft, type EventFields, parseEventDraft } from '../../../kernel/log/event-line.ts';
import { topics } from '../../topics.ts';
import { putSignal, sampleSignal } from '../testing/sample-signal.ts';
import type { KnownSignal } from './signal-reads.ts';
import { type WatchSignalsOptions, watchSignals } from './watch-signals.ts';

/** A log that folds events immediately, or only when `foldAll` is called. */
function fakeLog({ foldsLate = false } = {}) {
  const lines: EventFields[] = [];
  const notFolded: (() => void)[] = [];
  const folded = new Map<string, KnownSignal & { orchestrator: string; ticket: string }>();
  function fold({ event, scope, detail }: EventFields, lastSeq: number): void {
    const { orchestrator = '', ticket = '' } = scope;
    const key = `${orchestrator}/${ticket}`;
    const before = folded.get(key) ?? {
      orchestrator,
      ticket,
      hash: null,
      signal: null,
      lastSeq,
    };
    if (event.endsWith('.removed')) folded.set(key, { ...before, lastSeq, removed: true });
    else if (event.endsWith('.corrupt'))
      folded.set(key, {
        ...before,
        lastSeq,
        corrupt: { problem: String(detail['problem']) },
        removed: false,
      });
    else {
      const { hash, signal } = detail as { hash: string; signal: SignalFile };
      folded.set(key, { ...before, lastSeq, hash, signal, corrupt: null, removed: false });
    }
  }
  function foldAll(): void {
    for (const now of notFolded.splice(0)) now();
  }
  return {
    lines,
    folded,
    foldAll,
    topics: (ticket?: string) =>
      lines
        .filter(({ scope }) => ticket === undefined || scope.ticket === ticket)
        .map(({ event }) => event.replace('orchestrator.worker.', '')),
    async append(draft: EventDraft) {
      const parsed = parseEventDraft(topics, JSON.parse(JSON.stringify(draft)));
      if (!parsed.ok) throw new Error(parsed.problem);
      await nextTurn();
      const seq = lines.push(parsed.draft);
      notFolded.push(() => fold(parsed.draft, seq));
      if (!foldsLate) foldAll();
      return { seq };
    },
  };
}

function start(runsDir: string, log = fakeLog(), more: Partial<WatchSignalsOptions> = {}) {
  const watcher = watchSignals({
    runsDir,
    known: (orchestrator, ticket) => log.folded.get(`${orchestrator}/${ticket}`) ?? null,
    knownWorkers: () => log.folded.values(),
    append: (draft) => log.append(draft),
    now: () => new Date(),
    rescanMs: NEVER_MS,
    pollMs: 20,
    debounceMs: 10,
    graceMs: 50,
    ...more,
  });
  onTestFinished(() => watcher.stop());
  /** A check that started earlier may still be running; the second rescan starts a new one. */
  const check = async () => {
    await watcher.rescan();
    await watcher.rescan();
  };
  return { watcher, log, check };
}

/** The longest time that a timer can wait. */
const NEVER_MS = 2 ** 31 - 1;

/** Writes like our own writers. */
function replace(path: string, signal: SignalFile): void {
  writeFileSync(`${path}.tmp`, JSON.stringify(signal));
  renameSync(`${path}.tmp`, path);
}

describe('one file', () => {
  test('is reported when it appears, changes and disappears; a heartbeat and a rewrite are not', async () => {
    const runsDir = join(temporaryFolder(), 'runs');
    const { watcher, log, check } = start(runsDir);
    await watcher.rescan();
    const path = putSignal(runsDir, sampleSignal({ status: 'dispatched' }));
    await expect.poll(() => log.topics()).toEqual(['dispatched']);
    replace(path, sampleSignal({ status: 'planning' }));
    await expect.poll(() => log.topics().at(-1)).toBe('status_changed');
    replace(path, sampleSignal({ status: 'planning', phase: 'plan' }));
    await expect.poll(() => log.topics().at(-1)).toBe('phase_changed');
    replace(path, sampleSignal({ status: 'planning', phase: 'plan', updatedAt: '2026-02-02T03:04:05Z' }));
    await check();
    writeFileSync(path, JSON.stringify(sampleSignal({ phase: 'plan', status: 'planning' }), null, 4));
    await check();
    writeFileSync(path, JSON.stringify(sampleSignal({ phase: 'plan', status: 'planning', pid: 7 })));
    await expect.poll(() => log.lines.at(-1)?.detail).toMatchObject({ changed: ['pid'] });
    rmSync(path);
    await expect.poll(() => log.topics().at(-1)).toBe('removed');
    expect(log.topics()).toEqual(['dispatched', 'status_changed', 'phase_changed', 'updated', 'removed']);
    expect(watcher.figures()).toMatchObject({ files: 0, corrupt: 0, ignored: 0, problem: null });
    putSignal(runsDir, sampleSignal({ phase: 'plan', status: 'planning', pid: 7 }));
    await expect.poll(() => log.lines.at(-1)).toMatchObject({ event: 'orchestrator.worker.updated' });
  });

  test('the sequence of a busy writer ends with its latest value, even with a log that folds late', async () => {
    const runsDir = join(temporaryFolder(), 'runs');
    const path = putSignal(runsDir, sampleSignal({ count: -1 }));
    const { log, check } = start(runsDir, fakeLog({ foldsLate: true }));
    for (let count = 0; count < 150; count += 1) {
      if (count % 2) replace(path, sampleSignal({ count: count % 3 }));
      else writeFileSync(path, JSON.stringify(sampleSignal({ count: count % 3 })));
      // Only some of them are checked: by a notification if one comes in time, and here if not.
      if (count % 5 === 4) await check();
      else await nextTurn();
      if (count % 50 === 49) log.foldAll();
    }
    await expect.poll(() => log.lines.at(-1)?.detail['signal']).toMatchObject({ count: 149 % 3 });
    await check();
    log.foldAll();
    await check();
    const counts = log.lines.map(({ detail }) => (detail['signal'] as SignalFile)['count']);
    expect(counts.length).toBeGreaterThanOrEqual(30);
    expect(counts.every((count, index) => index === 0 || count !== counts[index - 1])).toBe(true);
    expect(log.topics().every((topic) => topic !== 'corrupt')).toBe(true);
  });

  test('partly written is not corrupt; after the grace period it is, once per problem; when fixed it is reported again', async () => {
    vi.useFakeTimers({
      toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
    });
    onTestFinished(() => void vi.useRealTimers());
    const runsDir = join(temporaryFolder(), 'runs');
    const signal = sampleSignal();
    const path = putSignal(runsDir, signal);
    const { watcher, log, check } = start(runsDir, fakeLog(), { graceMs: 500 });
    const after = async (milliseconds: number) => {
      await check();
      vi.advanceTimersByTime(milliseconds);
      await check();
    };
    await check();
    expect(log.topics()).toEqual(['status_changed']);
    const text = JSON.stringify(sampleSignal({ note: 'n'.repeat(100) }));
    const descriptor = openSync(path, 'w');
    for (let from = 0; from < text.length; from += 60) {
      writeSync(descriptor, text.slice(from, from + 60));
      await after(200);
    }
    closeSync(descriptor);
    expect(log.topics()).toEqual(['status_changed', 'updated']);
    writeFileSync(path, '{"a"');
    await after(499);
    expect(log.topics()).toEqual(['status_changed', 'updated']);
    await after(1);
    expect(log.topics().at(-1)).toBe('corrupt');
    expect(log.lines.at(-1)?.detail).toEqual({ path, problem: expect.stringContaining('not valid JSON') });
    expect(watcher.figures()).toMatchObject({ files: 1, corrupt: 1 });
    await check();
    writeFileSync(path, '');
    await after(500);
    expect(log.lines.at(-1)?.detail['problem']).toBe('is empty.');
    await check();
    writeFileSync(path, text);
    await check();
    expect(log.topics()).toEqual(['status_changed', 'updated', 'corrupt', 'corrupt', 'updated']);
    expect(watcher.figures()).toMatchObject({ files: 1, corrupt: 0 });
  });

  test('what the log could not take is reported later', async () => {
    const runsDir = join(temporaryFolder(), 'runs');
    putSignal(runsDir, sampleSignal());
    const log = fakeLog();
    const onProblem = vi.fn<(error: unknown) => void>();
    let full = true;
    const append = (draft: EventDraft) => (full ? Promise.reject(new Error('disk full')) : log.append(draft));
    const { watcher } = start(runsDir, log, { append, onProblem });
    await expect.poll(() => onProblem.mock.calls.length).toBeGreaterThan(0);
    expect(watcher.figures().problem).toBe('disk full');
    full = false;
    await expect.poll(() => log.topics()).toEqual(['status_changed']);
  });
});

test('a restart reports only what happened in between', async () => {
  const runsDir = join(temporaryFolder(), 'runs');
  const paths = ['ENG-1', 'ENG-2', 'ENG-3', 'ENG-4'].map((ticket) =>
    putSignal(runsDir, sampleSignal({ ticket })),
  );
  const log = fakeLog();
  const first = start(runsDir, log);
  await first.watcher.rescan();
  await first.watcher.stop();
  writeFileSync(paths[3] ?? '', '{}');
  const corrupted = start(runsDir, log, { graceMs: 20 });
  await expect.poll(() => log.topics('ENG-4')).toEqual(['status_changed', 'corrupt']);
  await corrupted.watcher.stop();
  rmSync(paths[0] ?? '');
  putSignal(runsDir, sampleSignal({ ticket: 'ENG-2', status: 'shipping' }));
  const second = start(runsDir, log, { graceMs: 20 });
  await expect.poll(() => log.topics('ENG-1')).toEqual(['status_changed', 'removed']);
  // Its grace period started later than that of ENG-4.
  putSignal(runsDir, sampleSignal({ ticket: 'ENG-5' }), '{}');
  await expect.poll(() => log.topics('ENG-5')).toEqual(['corrupt']);
  await second.check();
  expect(log.topics('ENG-2')).toEqual(['status_changed', 'status_changed']);
  expect(log.topics('ENG-3')).toEqual(['status_changed']);
  expect(log.topics('ENG-4')).toEqual(['status_changed', 'corrupt']);
});

test('a worker that the state has forgotten is not reported again', async () => {
  const runsDir = join(temporaryFolder(), 'runs');
  const long = { status: 'done', updatedAt: '2026-01-02T03:04:05Z' } as const;
  putSignal(runsDir, sampleSignal({ ticket: 'OLD-1', ...long }));
  putSignal(runsDir, sampleSignal({ ticket: 'OLD-2', ...long, status: 'implementing' }));
  putSignal(runsDir, sampleSignal({ ticket: 'NEW-1', ...long, updatedAt: '2026-03-02T03:04:05Z' }));
  const { watcher, log } = start(runsDir, fakeLog(), { now: () => new Date('2026-03-03T03:04:05Z') });
  await watcher.rescan();
  log.folded.clear();
  await watcher.rescan();
  expect(log.lines.map(({ scope }) => scope.ticket).toSorted((a = '', b = '') => a.localeCompare(b))).toEqual(
    ['NEW-1', 'OLD-2'],
  );
  putSignal(runsDir, sampleSignal({ ticket: 'OLD-1', updatedAt: '2026-03-03T03:04:05Z' }));
  await expect.poll(() => log.topics('OLD-1')).toEqual(['status_changed']);
});

test('200 files at once, in runs that start while it watches: each is reported once', async () => {
  const runsDir = join(temporaryFolder(), 'runs');
  const onRepo = vi.fn<(repo: string) => void>();
  const { watcher, log, check } = start(runsDir, fakeLog({ foldsLate: true }), { onRepo });
  expect(existsSync(runsDir)).toBe(true);
  for (let index = 0; index < 200; index += 1) {
    const repo = `acme/web${index % 3}`;
    putSignal(runsDir, sampleSignal({ ticket: `ENG-${index}`, orchestrator: `orch-${index % 10}`, repo }));
  }
  await expect.poll(() => log.lines).toHaveLength(200);
  await check();
  log.foldAll();
  await check();
  for (let index = 0; index < 200; index += 1) {
    const more = { ticket: `ENG-${index}`, orchestrator: `orch-${index % 10}`, status: 'done' } as const;
    putSignal(runsDir, sampleSignal({ ...more, repo: `acme/web${index % 3}` }));
  }
  await expect.poll(() => log.lines).toHaveLength(400);
  await check();
  log.foldAll();
  await check();
  expect(log.lines).toHaveLength(400);
  expect(onRepo).toHaveBeenCalledTimes(3);
  expect(new Set(onRepo.mock.calls.flat())).toEqual(new Set(['acme/web0', 'acme/web1', 'acme/web2']));
  expect(watcher.figures()).toMatchObject({ files: 200, corrupt: 0, problem: null });
});

test('the folders may be removed and created again, in part or completely', async () => {
  const runsDir = join(temporaryFolder(), 'runs');
  const path = putSignal(runsDir, sampleSignal());
  const { watcher, log } = start(runsDir);
  await watcher.rescan();
  const gone = [dirname(path), dirname(dirname(path)), runsDir, runsDir];
  for (const [round, folder] of gone.entries()) {
    // No scan is running then: what it could no longer watch would be found only by the next rescan.
    await watcher.rescan();
    rmSync(folder, { recursive: true });
    await expect.poll(() => log.topics().at(-1)).toBe('removed');
    putSignal(runsDir, sampleSignal({ round }));
    await expect.poll(() => log.lines.at(-1)?.detail['signal']).toMatchObject({ round });
    putSignal(runsDir, sampleSignal({ round, live: true }));
    await expect.poll(() => log.lines.at(-1)?.detail['signal']).toMatchObject({ live: true });
  }
  // Gone and back within the grace period: a change like any other.
  await watcher.rescan();
  rmSync(runsDir, { recursive: true });
  putSignal(runsDir, sampleSignal({ round: 9 }));
  await expect.poll(() => log.lines.at(-1)?.detail['signal']).toMatchObject({ round: 9 });
  expect(log.topics().filter((topic) => topic === 'removed')).toHaveLength(4);
});

test('links, strange names and unreadable folders are ignored, and the others continue', async () => {
  const folder = temporaryFolder();
  const runsDir = join(folder, 'runs');
  const path = putSignal(runsDir, sampleSignal());
  const { watcher, log, check } = start(runsDir);
  await watcher.rescan();
  writeFileSync(join(folder, 'x.json'), JSON.stringify(sampleSignal({ ticket: 'ENG-9' })));
  symlinkSync(join(folder, 'x.json'), join(dirname(path), 'ENG-9.json'));
  writeFileSync(join(dirname(path), 'a b.json'), '{}');
  const closed = join(runsDir, 'orch-2', 'workers');
  mkdirSync(closed, { recursive: true });
  chmodSync(closed, 0o000);
  // A file that appeared and disappeared later was reported: whatever is to be reported about the others has been, too.
  const later = putSignal(runsDir, sampleSignal({ ticket: 'ENG-5' }));
  await expect.poll(() => log.topics('ENG-5')).toEqual(['status_changed']);
  rmSync(later);
  await expect.poll(() => log.topics('ENG-5')).toEqual(['status_changed', 'removed']);
  await check();
  chmodSync(closed, 0o700);
  expect(log.topics('ENG-1')).toEqual(['status_changed']);
  expect(log.lines).toHaveLength(3);
  expect(watcher.figures()).toMatchObject({ files: 1, corrupt: 0, ignored: 2 });
  const ignored = ['ENG-9.json', 'a b.json'].map((name) => join(dirname(path), name));
  expect(watcher.figures().ignoredFiles.toSorted()).toEqual(ignored.toSorted());
  replace(path, sampleSignal({ status: 'done' }));
  await expect.poll(() => log.topics('ENG-1')).toEqual(['status_changed', 'status_changed']);
});

test('a run whose folder is flooded with files has a limit of its own, and the other runs go on', async () => {
  const runsDir = join(temporaryFolder(), 'runs');
  putSignal(runsDir, sampleSignal({ orchestrator: 'flooded', ticket: 'ENG-0' }));
  const flooded = join(runsDir, 'flooded', 'workers');
  for (let number = 1; number <= 1_500; number += 1) writeFileSync(join(flooded, `ENG-${number}.json`), '{');
  putSignal(runsDir, sampleSignal({ orchestrator: 'other', ticket: 'ENG-7' }));
  const { watcher, log } = start(runsDir, fakeLog(), { graceMs: 1 });
  await watcher.rescan();
  expect(log.folded.has('other/ENG-7')).toBe(true);
  expect(watcher.figures().files).toBeLessThanOrEqual(1_001);
  expect(watcher.figures().problem).toContain('The run flooded has too many status files');
  expect(watcher.figures().remedy).toContain('svc archive sweep');
  for (let number = 2_000; number <= 2_500; number += 1)
    writeFileSync(join(flooded, `ENG-${number}.json`), '{');
  putSignal(runsDir, sampleSignal({ orchestrator: 'other', ticket: 'ENG-8' }));
  await expect.poll(() => log.folded.has('other/ENG-8')).toBe(true);
  expect(watcher.figures().files).toBeLessThanOrEqual(1_002);
});

// A run that the tracker asked for, when something fails in between. The whole way is packages/monitor/e2e/dispatch.test.ts.
import { mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { expect, test } from 'vitest';
import { Failure } from '../../../kernel/failure.ts';
import { draft, type EventDraft } from '../../../kernel/log/event-line.ts';
import { emptyBoard, foldLine } from '../../board.ts';
import { Config } from '../../config.ts';
import type { StartRun } from '../dispatch.ts';
import type { RunProject } from './run-project.ts';
import { createStartFromTracker } from './start-from-tracker.ts';

const at = '2026-01-02T03:00:00.000Z';
const entry = { repo: 'acme/web', label: 'svc:run', authors: ['kim'] };

function world(given: { fails?: (draft: EventDraft) => boolean; board?: () => void } = {}) {
  const project = join(realpathSync(temporaryFolder()), 'web');
  mkdirSync(project);
  const board = emptyBoard();
  const lines = new Map<string, EventDraft>();
  let unserved = false;
  const append = async (line: EventDraft): Promise<{ seq: number }> => {
    if (given.fails?.(line)) throw new Failure('log-not-writable', 'The disk is full.');
    const id = line.deliveryId ?? crypto.randomUUID();
    if (!lines.has(id)) foldLine(board, { ...line, seq: board.seq + 1, ts: at });
    lines.set(id, line);
    return { seq: board.seq };
  };
  const applied = { project, served: true, keys: [], deploy: {}, others: 'default' as const };
  const dispatch = { prefix: 'ENG', entries: [entry] };
  const ready = append(draft('monitor.config.applied', {}, { ...applied, dispatch }));
  const start = createStartFromTracker({
    board() {
      given.board?.();
      return board;
    },
    reached: async () => undefined,
    append,
    projects: {
      of: async () =>
        ({
          folder: project,
          config: Config.parse({ svc: { projectKey: 'web' } }),
          problems: [],
          worktrees: { base: async () => '/wt' },
          findMissing: async () => ({ missing: [], checks: [] }),
          usedNames: async () => [],
        }) as unknown as RunProject,
    },
    served: async () => (unserved ? [] : [project]),
    orchestrator: { checkNow: async () => undefined },
    now: () => new Date(at),
  });
  const effect = (seq: number): StartRun => ({
    kind: 'start-run',
    key: `${seq}:start-run:ENG-1`,
    seq,
    ticket: 'ENG-1',
    project,
    repo: 'acme/web',
    actor: 'kim',
    author: 'kim',
    by: 'kim',
    because: 'the label svc:run',
    at,
  });
  return {
    start: async (seq = 7) => {
      await ready;
      return start(effect(seq));
    },
    unserve: () => void (unserved = true),
    events: () =>
      [...lines.values()].map(({ event }) => event).filter((event) => !event.startsWith('monitor.')),
    last: () => [...lines.values()].at(-1),
  };
}

const both = ['orchestrator.run.started', 'workflow.ticket.dispatched'];

test.each(both)('is started once if the line %s could not be written at first', async (topic) => {
  let full = true;
  const { start, events } = world({ fails: ({ event }) => full && event === topic });
  await expect(start()).rejects.toThrow('The disk is full.');
  full = false;
  await expect(start()).resolves.toEqual({ done: 'started ENG-1-7' });
  await expect(start()).resolves.toEqual({ done: 'started ENG-1-7' });
  expect(events()).toEqual(both);
});

test('while the log is still being read, it is tried again and not refused', async () => {
  let ready = false;
  const { start, events } = world({
    board() {
      if (!ready) throw new Failure('state-not-ready', 'The log is still being read.');
    },
  });
  await expect(start()).rejects.toThrow('still being read');
  expect(events()).toEqual([]);
  ready = true;
  await start();
  expect(events()).toEqual(both);
});

test('a second request for the same ticket is refused, with the reason and the fix', async () => {
  const { start, events, last } = world();
  await start(7);
  await expect(start(9)).resolves.toEqual({
    done: 'refused: the ticket is in the run ENG-1-7, which has not ended',
  });
  expect(events()).toEqual([...both, 'workflow.ticket.dispatch_refused']);
  expect(last()).toMatchObject({
    scope: { ticket: 'ENG-1', repo: 'acme/web' },
    detail: { line: 9, invited: true, remedy: 'Show the run: svc orchestrate status ENG-1-7' },
  });
});

test('a project that is no longer served starts nothing', async () => {
  const { start, events, unserve } = world();
  unserve();
  await start();
  expect(events()).toEqual(['workflow.ticket.dispatch_refused']);
});

// What `svc board` prints of a worker, at the widths of terminals.
import { expect, test } from 'vitest';
import { type WorkerOnBoard, workerLines } from './board-text.ts';

const now = new Date('2026-01-02T12:00:00Z');
const worker = (more: object): WorkerOnBoard =>
  ({
    ticket: 'GH-1',
    orchestrator: 'web-1',
    status: 'dispatched',
    statusSince: '2026-01-02T11:59:00Z',
    agent: null,
    pullRequest: null,
    waitsFor: null,
    until: null,
    contradictions: [],
    deploy: null,
    merge: null,
    process: { state: 'alive', since: '2026-01-02T11:59:00Z', seq: 1 },
    attempts: 0,
    budget: 3,
    pullRequestKey: null,
    title: 'Show the price of every article in the cart, with tax and without tax, for all countries',
    ...more,
  }) as Partial<WorkerOnBoard> as WorkerOnBoard;

const workers = [
  worker({
    agent: { name: 'codex', state: 'needs-permission', doing: null },
    waitsFor: 'a person: svc agent answer GH-1',
  }),
  worker({
    ticket: 'GH-10',
    status: 'implementing',
    title: 'Tidy\u202e up',
    agent: { name: 'claude', state: 'running', doing: 'Edit: price.ts' },
  }),
];

test.each([80, 120, 200])('no line is longer than %d columns, and no command is cut', (columns) => {
  const lines = workerLines(workers, { items: [], pullRequests: [], now, columns });
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
  expect(lines.join('\n').replaceAll(/\n\s+/g, ' ')).toContain('waiting for a person: svc agent answer GH-1');
});

test('state, agent, title, and what it does now; hidden characters do not reach the terminal', () => {
  expect(workerLines(workers, { items: [], pullRequests: [], now, columns: 80 })).toEqual([
    'GH-1   starting      1 min ago  codex: asks you  Show the price of every articl…',
    '       web-1, waiting for a person: svc agent answer GH-1',
    'GH-10  implementing  1 min ago  claude: working  Tidy? up',
    '       web-1, now: Edit: price.ts',
  ]);
});

test('the state is the label of the dashboard: a pull request that was closed is not in review', () => {
  const closed = worker({ status: 'pr-created', pullRequestKey: 'acme/web#7', title: null });
  const pullRequests = [{ key: 'acme/web#7', state: 'closed' }] as never;
  const [head] = workerLines([closed], { items: [], pullRequests, now, columns: 80 });
  expect(head).toBe('GH-1  closed without merging  1 min ago  -');
});

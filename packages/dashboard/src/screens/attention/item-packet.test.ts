import type { ConversationItem } from 'svc-monitor/src/features/agents/schemas.ts';
import { expect, it } from 'vitest';
import { deployLog, newestSaid } from './item-packet.tsx';

const said = (id: string, text: string): ConversationItem => ({
  id,
  rev: 1,
  kind: 'message',
  text,
  cut: false,
});
const prompt = (by: string): ConversationItem => ({ id: `p-${by}`, rev: 1, kind: 'prompt', text: 'go', by });
const tool = (id: string): ConversationItem => ({
  id: `tool:${id}`,
  rev: 1,
  kind: 'tool',
  title: id,
  toolKind: 'edit',
  status: 'pending',
  paths: [],
  command: null,
  output: '',
  exitCode: null,
  diffs: [],
  cut: false,
});

it('the end of the conversation is without the prompt of svc and without what is asked about', () => {
  const items = [prompt('svc'), prompt('kim'), said('m1', 'one'), tool('a'), tool('asked')];
  expect(newestSaid(items, ['asked']).map(({ id }) => id)).toEqual(['p-kim', 'm1', 'tool:a']);
  expect(newestSaid([...items, ...items, ...items], [])).toHaveLength(4);
});

type Given = Parameters<typeof deployLog>;
const worker = (deploymentId: number | null, logUrl?: string) => {
  const failed = {
    deploymentId: 1,
    state: 'failure',
    failedAt: 'x',
    ...(logUrl !== undefined && { logUrl }),
  };
  return { repo: 'acme/web', deploy: { deploymentId, attempts: [failed] } } as unknown as Given[0];
};
const board = {
  deployments: new Map([
    ['a', { id: 2, repo: 'acme/web', logUrl: 'https://log/2' }],
    ['b', { id: 2, repo: 'acme/other', logUrl: 'https://log/other' }],
  ]),
} as unknown as Given[1];

it.each([
  ['of the newest deployment, in the own repository', worker(2, 'https://log/1'), 'https://log/2'],
  ['of the last failed one', worker(3, 'https://log/1'), 'https://log/1'],
  ['none is known', worker(null), null],
  ['nothing was merged', { repo: null, deploy: null }, null],
])('the log of a deployment: %s', (_what, given, log) => expect(deployLog(given, board)).toBe(log));

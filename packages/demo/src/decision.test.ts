import type { EventLine } from 'svc-monitor/src/kernel/log/event-line.ts';
import { expect, it, test } from 'vitest';
import { openDay, readRecords } from './day.ts';
import { awaitDecision, decisionIn } from './decision.ts';
import { pastOf } from './past.ts';

function lineOf(event: string, detail: object, more: object = {}): EventLine {
  const line = { event, source: 'cli', scope: { ticket: 'TID-106' }, detail, ...more };
  return line as unknown as EventLine;
}
const exhausted = { reason: 'deploy-budget-exhausted', by: 'you' };

test.each([
  ['acknowledged', lineOf('comms.attention_acknowledged', exhausted), 'taken'],
  ['handed over', lineOf('comms.attention_handed_over', exhausted), 'taken'],
  ['resolved', lineOf('comms.attention_resolved', exhausted), 'taken'],
  ['retried', lineOf('orchestrator.deploy.retried', { by: 'you' }), 'retried'],
  ['accepted', lineOf('orchestrator.deploy.accepted', { by: 'you' }), 'accepted'],
  ['snoozed', lineOf('comms.attention_snoozed', exhausted), undefined],
  ['another reason', lineOf('comms.attention_acknowledged', { reason: 'deploy-failed' }), undefined],
  ['another ticket', lineOf('orchestrator.deploy.accepted', {}, { scope: { ticket: 'TID-105' } }), undefined],
  ['the daemon itself', lineOf('comms.attention_resolved', exhausted, { source: 'monitor' }), undefined],
])('a decision of a person: %s', (_, line, decision) => {
  expect(decisionIn(line)).toBe(decision);
});

function listening() {
  const printed: string[] = [];
  const sent: string[] = [];
  const decision = awaitDecision({
    daemon: { url: 'http://127.0.0.1:9', headers: {} },
    clouds: {
      deliver: ({ kind, type, payload }) => {
        const status = payload['deployment_status'] as { state: string } | undefined;
        const data = payload['data'] as { state: { name: string } } | undefined;
        sent.push(
          kind === 'tracker' ? (data?.state.name ?? '') : [type, status?.state].filter(Boolean).join(' '),
        );
        return Promise.resolve();
      },
    },
    msPerMinute: 0,
    print: (text) => void printed.push(text),
    signal: new AbortController().signal,
  });
  return { decision, printed, sent };
}

it('follows a retry with a successful deployment', async () => {
  const { decision, printed, sent } = listening();
  expect(decision.isMade()).toBe(false);
  decision.saw(lineOf('orchestrator.deploy.retried', { by: 'you' }));
  expect(decision.isMade()).toBe(true);
  await decision.settled();
  expect(sent).toEqual(['deployment', 'deployment_status in_progress', 'deployment_status success', 'Done']);
  expect(printed.at(-1)).toBe('TID-106 is in production: done.');
});

it('deploys nothing if the user accepts, and follows only the first decision', async () => {
  const { decision, printed, sent } = listening();
  decision.saw(lineOf('orchestrator.deploy.accepted', { by: 'you' }));
  decision.saw(lineOf('orchestrator.deploy.retried', { by: 'you' }));
  await decision.settled();
  expect(sent).toEqual(['Done']);
  expect(printed).toHaveLength(1);
});

it('reports a request that the daemon did not accept to the caller of settled', async () => {
  const { decision } = listening();
  decision.saw(lineOf('comms.attention_acknowledged', exhausted));
  await expect(decision.settled()).rejects.toThrow('fetch failed');
});

it('deploys the merge commit of the pull request', () => {
  const day = openDay({ now: new Date(), nowIs: 570, pid: 1 });
  const merged = pastOf(day).board.pullRequests.get('tideline/api#406')?.merge?.sha;
  expect(merged).toBeDefined();
  const deployments = readRecords('decision.jsonl').flatMap((record) =>
    record.kind === 'codehost' ? [record.payload['deployment']] : [],
  );
  expect(deployments).toHaveLength(3);
  for (const deployment of deployments) expect(deployment).toMatchObject({ sha: merged });
});

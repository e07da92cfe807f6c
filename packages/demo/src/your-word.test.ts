import type { EventLine } from '@svc/core';
import { expect, it, test } from 'vitest';
import { pastOf } from '../../testkit/src/tape/past.ts';
import { teamDay } from '../../testkit/src/tape/team-day.ts';
import { awaitYourWord, mergeOf, wordIn } from './your-word.ts';

const { facts } = teamDay({ seed: 1, now: new Date(), nowIs: 60, livingPid: 1 });

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
])('a word of a person: %s', (_, line, word) => {
  expect(wordIn(line)).toBe(word);
});

function listening() {
  const said: string[] = [];
  const sent: string[] = [];
  const yours = awaitYourWord({
    daemon: { url: 'http://127.0.0.1:9', headers: {} },
    clouds: {
      sendCodehost: (type, payload) => {
        const status = payload['deployment_status'] as { state: string } | undefined;
        sent.push([type, status?.state].filter(Boolean).join(' '));
        return Promise.resolve();
      },
      sendTracker: (_, payload) => {
        sent.push((payload['data'] as { state: { name: string } }).state.name);
        return Promise.resolve();
      },
    },
    facts,
    msPerMinute: 0,
    say: (text) => void said.push(text),
    signal: new AbortController().signal,
  });
  return { yours, said, sent };
}

it('answers a retry with a deployment that succeeds', async () => {
  const { yours, said, sent } = listening();
  expect(yours.isSaid()).toBe(false);
  yours.saw(lineOf('orchestrator.deploy.retried', { by: 'you' }));
  expect(yours.isSaid()).toBe(true);
  await yours.settled();
  expect(sent).toEqual(['deployment', 'deployment_status in_progress', 'deployment_status success', 'Done']);
  expect(said.at(-1)).toBe('TID-106 is in production: done.');
});

it('deploys nothing when the person accepts, and answers the first word only', async () => {
  const { yours, said, sent } = listening();
  yours.saw(lineOf('orchestrator.deploy.accepted', { by: 'you' }));
  yours.saw(lineOf('orchestrator.deploy.retried', { by: 'you' }));
  await yours.settled();
  expect(sent).toEqual(['Done']);
  expect(said).toHaveLength(1);
});

it('tells whoever waits that the daemon did not take it', async () => {
  const { yours } = listening();
  yours.saw(lineOf('comms.attention_acknowledged', exhausted));
  await expect(yours.settled()).rejects.toThrow('fetch failed');
});

it('deploys the commit that the pull request became', () => {
  const day = teamDay({ seed: 1, now: new Date(), nowIs: 570, livingPid: 1 });
  const merged = pastOf(day).board.pullRequests.get('tideline/api#406')?.merge?.sha;
  expect(mergeOf(facts, 406)).toBe(merged);
  expect(() => mergeOf(facts, 434)).toThrow('merges no pull request 434');
});

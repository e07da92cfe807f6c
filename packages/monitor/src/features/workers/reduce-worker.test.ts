import { expect, test } from 'vitest';
import { type FoldedLine } from '../../kernel/board/board.ts';
import type { LineOf } from '../../kernel/board/fold-context.ts';
import { logged, moment, reduced } from '../../kernel/board/testing/lines.ts';
import { defaultDeployPolicy } from './deploy-fields.ts';
import { claimedStatus, reduceWorker, type WorkerTopic } from './reduce-worker.ts';

const scope = { orchestrator: 'run-1', ticket: 'ENG-42' };
const signal = {
  ...scope,
  workerName: 'worker-42',
  status: 'implementing',
  phase: 3,
  startedAt: moment(0),
  updatedAt: moment(1),
  repo: 'acme/web',
  branch: 'eng-42',
  wave: 2,
  pr: { number: 42, url: 'https://codehost.example/acme/web/pull/42' },
};
const line = (seq: number, action: string, detail: object = {}): FoldedLine =>
  logged(seq, `orchestrator.worker.${action}`, { scope, detail: { ...detail } });
const first = line(1, 'status_changed', { signal, hash: 'h1' });

test.each<[string, FoldedLine[], object | undefined]>([
  [
    'the content of the file',
    [first],
    {
      key: 'run-1/ENG-42',
      name: 'worker-42',
      phase: 3,
      repo: 'acme/web',
      branch: 'eng-42',
      wave: 2,
      pr: { number: 42, url: signal.pr.url },
      signal,
      hash: 'h1',
      process: { state: 'unknown' },
      lastSeq: 1,
    },
  ],
  [
    'no file yet',
    [line(1, 'dispatched')],
    { status: 'dispatched', signal: null, policy: defaultDeployPolicy },
  ],
  [
    'a line without a file changes nothing known',
    [first, line(2, 'updated')],
    { hash: 'h1', signal, lastSeq: 2 },
  ],
  ['dead', [first, line(2, 'died')], { process: { state: 'dead', since: moment(3), seq: 2 } }],
  ['dead for long', [first, line(2, 'died'), line(3, 'died')], { process: { since: moment(3), seq: 2 } }],
  [
    'about to be revived',
    [first, line(2, 'died', { willRevive: true })],
    { process: { state: 'dead', reviving: true } },
  ],
  ['revived', [first, line(2, 'died'), line(3, 'revived')], { process: { state: 'alive', seq: 3 } }],
  [
    'corrupt',
    [first, line(2, 'corrupt', { path: '/f', problem: 'torn' })],
    { corrupt: { path: '/f', problem: 'torn', seq: 2 }, signal },
  ],
  [
    'readable again',
    [line(1, 'corrupt', { path: '/f', problem: 'torn' }), { ...first, seq: 2 }],
    { corrupt: null, hash: 'h1' },
  ],
  ['removed', [first, line(2, 'removed')], { removed: true, signal }],
  ['restored', [first, line(2, 'removed'), { ...first, seq: 3 }], { removed: false }],
  ['removed, never known', [line(2, 'removed')], undefined],
  ['a file that was cut', [line(1, 'updated', { signal: { status: 'planning' } })], { signal: null }],
  ['without a scope', [logged(1, 'orchestrator.worker.updated', { detail: { signal } })], undefined],
])('%s', (_name, lines, expected) => {
  const worker = reduced(reduceWorker, lines);
  if (expected === undefined) expect(worker).toBeUndefined();
  else expect(worker).toMatchObject(expected);
});

test.each<[string, FoldedLine, string | undefined]>([
  ['the file', first, 'implementing'],
  ['a status without a file', line(1, 'status_changed', { to: 'failed' }), 'failed'],
  ['an unknown status', line(1, 'status_changed', { to: 'lunch' }), undefined],
  ['a phase is not a status', line(1, 'phase_changed', { to: 'done' }), undefined],
  ['a removed file', line(1, 'removed', { signal }), undefined],
])('the claimed status: %s', (_name, claim, expected) => {
  expect(reduced<string>((_known, read: LineOf<WorkerTopic>) => claimedStatus(read), [claim])).toBe(expected);
});

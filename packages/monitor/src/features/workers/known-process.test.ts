import { sampleTime, sampleWorker } from '@svc/testkit';
import { expect, test } from 'vitest';
import type { WorkerAgent } from './agent-fields.ts';
import { processOf } from './known-process.ts';
import type { Worker } from './worker.ts';

const process = (state: Worker['process']['state'], at = '09:00'): Worker['process'] => ({
  state,
  since: sampleTime(at),
  seq: 10,
});
const agent = (state: WorkerAgent['state'], at = '10:00') =>
  ({ state, since: sampleTime(at) }) as WorkerAgent;

test.each<[string, WorkerAgent | null, Worker['process'], object]>([
  ['no agent of svc', null, process('unknown'), { state: 'unknown' }],
  [
    'an agent that talks',
    agent('running'),
    process('unknown'),
    { state: 'alive', since: sampleTime('09:00') },
  ],
  ['one that waits', agent('needs-permission'), process('unknown'), { state: 'alive' }],
  ['one that is idle', agent('idle'), process('unknown'), { state: 'alive' }],
  ['one that has ended', agent('ended'), process('unknown'), { state: 'dead', since: sampleTime('10:00') }],
  ['one that ended after a revival', agent('ended'), process('alive'), { state: 'dead' }],
  ['one that was revived after its end', agent('ended'), process('alive', '11:00'), { state: 'alive' }],
  ['a command line', agent(null), process('unknown'), { state: 'alive' }],
  ['a command line of before a restart', agent(null), process('unknown', '11:00'), { state: 'unknown' }],
  ['one that ended before a restart', agent('ended'), process('unknown', '11:00'), { state: 'unknown' }],
  ['a process that is known to be dead', agent('running'), process('dead'), { state: 'dead' }],
])('%s', (_what, known, before, after) => {
  expect(processOf(sampleWorker({ agent: known, process: before }))).toMatchObject(after);
});

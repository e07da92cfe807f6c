// `svc-relay conform` as a user runs it: against the real relay on a real nats-server, and where it cannot start.
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startPublicRelay, temporaryFolder, WAIT_MS } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { rows } from '../src/conform/rows.ts';
import { startWrongServer } from '../src/conform/testing/wrong-server.ts';
import { relayWorld, runRelay } from './relay-world.ts';

const timeout = ['--timeout', String(WAIT_MS / 1000)];

test('our relay passes every clause', async () => {
  const world = await relayWorld();
  const keyFile = join(world.folder, 'create-key');
  writeFileSync(keyFile, 'the-key-of-the-operator');
  chmodSync(keyFile, 0o600);
  const relay = await world.startRelay(
    '--ping=1',
    '--open-channels',
    `--create-key-file=${keyFile}`,
    '--channel-rate=1',
    '--channel-burst=400',
  );
  const { code, out, err } = await runRelay(['conform', relay.url, '--create-key-file', keyFile, ...timeout]);
  expect([code, err, out]).toEqual([
    0,
    '',
    expect.stringContaining(`${rows.length} pass, 0 fail, 0 not offered`),
  ]);
  expect(out).toContain('40 of 40 byte for byte');
  expect(out).not.toContain('the-key-of-the-operator');
});

test('the public relay passes the public part, and the rest is not offered', async () => {
  const relay = await startPublicRelay({ pingMs: 100 });
  onTestFinished(() => relay.stop());
  const publicRows = rows.filter(({ part }) => part === 'public').map(({ id }) => id);
  const chosen = [...publicRows, 'P3.8', 'P4.2', 'P5.1'].join();
  const { code, out, err } = await runRelay(['conform', relay.url, '--rows', chosen, ...timeout]);
  expect([code, err]).toEqual([0, '']);
  expect(out).toContain(`${publicRows.length} pass, 0 fail, 3 not offered`);
  expect(out).toMatch(/P4\.2 +not offered .*15 of 16 lost/);
});

test('a failed row exits with 1 and its clause; a check that cannot start has a reason', async () => {
  const relay = await startPublicRelay({ pingMs: 100 });
  onTestFinished(() => relay.stop());
  const silent = await startWrongServer(relay.url, {
    frames: () => (frame) => frame.replace('event: ready', 'event: hello'),
  });
  const failed = await runRelay(['conform', silent, '--rows', 'P3.1,P3.3', ...timeout]);
  expect([failed.code, failed.err]).toEqual([1, expect.stringContaining('fails P3.1.')]);
  expect(failed.out).toMatch(/P3\.1 +fail .*the first frame is hello/);
  const path = await runRelay(['conform', `${relay.url}/below`, ...timeout]);
  expect([path.code, path.err]).toEqual([5, expect.stringContaining('makes no channel')]);
  const unreachable = await runRelay(['conform', 'http://127.0.0.1:1']);
  expect([unreachable.code, unreachable.err]).toEqual([5, expect.stringContaining('ECONNREFUSED')]);
  for (const words of [
    ['relay.example'],
    ['http://user:secret@127.0.0.1:1'],
    [relay.url, '--rows', 'P0.1'],
  ]) {
    const wrong = await runRelay(['conform', ...words]);
    expect([words, wrong.code]).toEqual([words, 2]);
    expect(wrong.err).not.toContain('secret');
  }
  const key = join(temporaryFolder(), 'key');
  writeFileSync(key, 'the-key-of-the-operator', { mode: 0o600 });
  const clear = await runRelay(['conform', 'http://relay.example', '--create-key-file', key]);
  expect([clear.code, clear.err]).toEqual([2, expect.stringContaining('https')]);
});

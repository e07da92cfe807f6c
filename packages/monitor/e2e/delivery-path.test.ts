// docs/internals/delivery.md lists the files that one signed delivery passes, from the socket to the board. This records
// which modules are really entered, so the page cannot differ from the code.
import { createHmac } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { codehostExample, untilHolds } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { startInProcess } from './in-process-daemon.ts';

const root = join(import.meta.dirname, '../../..');
const SECRET = 'a'.repeat(64);
const MOST_FILES = 40;
const MOST_ROUNDS = 50;

const page = readFileSync(join(root, 'docs/internals/delivery.md'), 'utf8');
const path = [...page.matchAll(/^\| \d+ \| `(packages\/[^`]+)` /gm)].map(([, file = '']) => file);
const listed = [...page.matchAll(/`(packages\/[^`]+\/src\/[^`]+)`/g)].map(([, file = '']) => file);
const inDaemon = listed.filter((file) => !/^packages\/(dashboard|client)\//.test(file));

test('the path has at most 40 files, and every file of the page exists and appears once', () => {
  expect(path.length).toBeGreaterThan(10);
  expect(path.length).toBeLessThanOrEqual(MOST_FILES);
  expect(new Set(listed).size).toBe(listed.length);
  expect(listed.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});

test('a delivery enters the files of the page, and no others', async () => {
  const daemon = await startInProcess({ environment: { SVC_WEBHOOK_SECRET: SECRET } });
  const entered = await recordEntered();
  const { payload } = codehostExample('pull_request merged');
  const deliver = async (delivery: string) => {
    // Bytes that arrived before are marked as a repetition, and nothing reacts to them.
    const body = JSON.stringify({ ...payload, delivery });
    const { status } = await daemon.post('/api/webhook', body, {
      'Content-Type': 'application/json',
      'X-Hub-Signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
      'X-Codehost-Event': 'pull_request',
      'X-Codehost-Delivery': delivery,
    });
    expect(status).toBe(200);
  };
  const settled = () =>
    untilHolds(async () => {
      const newest = daemon.lines().at(-1)?.seq;
      expect((await daemon.get('/api/board?all=1')).body).toMatchObject({ seq: newest });
    });

  await deliver('first');
  await settled();
  // What runs by timer or belongs to the start is entered in some rounds, not in each.
  let always: string[] | undefined;
  const others = () => always?.filter((file) => !inDaemon.includes(file));
  for (let round = 0; round < MOST_ROUNDS && others()?.length !== 0; round += 1) {
    await entered();
    await deliver(`round-${round}`);
    await settled();
    const now = await entered();
    always = (always ?? [...now]).filter((file) => now.has(file));
  }
  expect(others()).toEqual([]);
  expect(inDaemon.filter((file) => !always?.includes(file))).toEqual([]);
});

/** Each call returns the files in which a function ran since the previous call. */
async function recordEntered(): Promise<() => Promise<Set<string>>> {
  const session = new Session();
  session.connect();
  onTestFinished(() => session.disconnect());
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  return async () => {
    const { result } = await session.post('Profiler.takePreciseCoverage');
    return new Set(
      result
        .filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0))
        .map(({ url }) => relative(root, url.startsWith('file:') ? fileURLToPath(url) : url))
        .filter(
          (file) => /^packages\/(contract|lib|monitor)\/src\//.test(file) && !file.includes('/testing/'),
        ),
    );
  };
}

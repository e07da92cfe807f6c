// The commands of docs/guide/data.md for a copy and a move, run as written.
import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { codehostExample, codehostHeaders, createRandom, temporaryFolder } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../testkit/src/daemon/free-port.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const [copy = '', unpack = '', start = ''] = [
  ...readFileSync(join(root, 'docs/guide/data.md'), 'utf8').matchAll(/^ *```console\n(.*?)^ *```/gms),
].map(([, commands = '']) => commands);
const SECRET = 'd'.repeat(64);

async function machine() {
  const home = temporaryFolder();
  const port = await freePort(createRandom(process.pid));
  const environment = {
    HOME: home,
    PATH: `${join(root, 'bin')}:${process.env['PATH']}`,
    SVC_MONITOR_PORT: String(port),
  };
  const shell = (commands: string): string =>
    execFileSync('bash', ['-c', commands], { cwd: home, env: environment, encoding: 'utf8', stdio: 'pipe' });
  onTestFinished(() => void shell('svc monitor stop || true'));
  const get = async (path: string) =>
    (await (await fetch(`http://127.0.0.1:${port}${path}`)).json()) as Record<string, unknown[]>;
  return { home, port, shell, get, at: (path: string) => join(home, path) };
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { mode: 0o600 });
}

test('a machine moves: events, board, runs and configuration are the same on the new one', async () => {
  const old = await machine();
  write(old.at('.config/svc/config.json'), '{"svc":{"projects":[]}}');
  write(old.at('.config/svc/webhook-secret'), SECRET);
  write(old.at('svc/comms/channels/run-1.jsonl'), '{"said":"hello"}\n');
  old.shell('svc monitor start');
  for (const name of ['pull_request opened', 'pull_request merged']) {
    const delivery = codehostExample(name);
    const body = JSON.stringify(delivery.payload);
    const signature = createHmac('sha256', SECRET).update(body).digest('hex');
    const headers = {
      ...codehostHeaders({ ...delivery, deliveryId: crypto.randomUUID() }),
      'x-hub-signature-256': `sha256=${signature}`,
    };
    const { status } = await fetch(`http://127.0.0.1:${old.port}/api/webhook`, {
      method: 'POST',
      body,
      headers,
    });
    expect(status).toBe(200);
  }
  const pullRequests = async (of: typeof old) => (await of.get('/api/board?all=1'))['pullRequests'];
  await expect.poll(() => pullRequests(old)).toHaveLength(1);
  const board = await pullRequests(old);
  old.shell(copy);
  expect(statSync(old.at('svc-copy.tar.gz')).mode & 0o777).toBe(0o600);
  const logOf = ({ at }: typeof old) =>
    readdirSync(at('svc/events'))
      .filter((name) => name.endsWith('.jsonl'))
      .toSorted()
      .map((name) => readFileSync(at(`svc/events/${name}`), 'utf8'))
      .join('');
  const log = logOf(old);

  const fresh = await machine();
  writeFileSync(fresh.at('svc-copy.tar.gz'), readFileSync(old.at('svc-copy.tar.gz')));
  fresh.shell(unpack);
  // The doctor exits with 1 here: gh is not signed in.
  fresh.shell(`${start.trimEnd()} || test $? = 1`);
  await expect.poll(() => pullRequests(fresh)).toEqual(board);
  expect(logOf(fresh).slice(0, log.length)).toBe(log);
  for (const path of ['.config/svc/config.json', '.config/svc/webhook-secret', 'svc/host-id'])
    expect(readFileSync(fresh.at(path), 'utf8')).toBe(readFileSync(old.at(path), 'utf8'));
  expect(statSync(fresh.at('.config/svc/webhook-secret')).mode & 0o777).toBe(0o600);
  expect(readFileSync(fresh.at('svc/comms/channels/run-1.jsonl'), 'utf8')).toBe('{"said":"hello"}\n');
  const { events } = await fresh.get('/api/events?event=codehost.pr.merged');
  expect(events).toHaveLength(1);
  expect(() => fresh.shell(unpack)).toThrow('File exists');
});

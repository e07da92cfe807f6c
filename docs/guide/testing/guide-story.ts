// What others (people, the code host, a worker) do while a reader follows the guide. A page names it in a hidden comment,
// and it really happens: a signed delivery goes through the relay to the daemon.
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { codehostExample, type JsonObject, patched, until } from '@svc/testkit';
import type { GuideWorld, Machine } from './guide-world.ts';

const HEAD = '9c31f0a7d2b85e64f1a0c3d7b9e2468013579bdf';
const MERGE = '4be07c21d9f3a6e85b1c0d7f2a94e6b83c5d1f70';

type Deed = (world: GuideWorld, at: Machine, number: string) => Promise<void>;

/** `#` matches a number. */
const deeds: Readonly<Record<string, Deed>> = {
  'first run is done': async (_world, { shell }) => {
    await shell.run('svc init --yes --token-file ~/tracker-token.txt');
  },
  'a relay of our own runs': async (world) => {
    const { shell } = await world.machine('relay');
    await shell.run(`nats-server --jetstream --store_dir ~/nats --addr 127.0.0.1 --port 4222 > ~/nats.log 2>&1 &
svc-relay provision --max-shard-bytes 64
svc-relay serve > ~/relay.log 2>&1 &
until curl --silent --fail http://127.0.0.1:7500/readyz; do sleep 0.1; done`);
  },
  'the daemon watches acme/web': async (_world, at) => {
    await until(() => isWatched(at));
  },
  'pull request 42 is opened': (world) => happens(world, 'pull_request opened'),
  'the checks of pull request 42 pass': (world) => happens(world, 'check_suite success'),
  'pull request 42 is merged': (world) => happens(world, 'pull_request merged'),
  'a worker has opened pull request 42 for ENG-42': async (world, at) => {
    writeSignal(at.home);
    await until(() => logOf(at.home).includes('orchestrator.worker.'));
    await happens(world, 'pull_request opened');
  },
  'deployment # starts': (world, _at, id) => deployment(world, 'in_progress', id),
  'deployment # fails': (world, _at, id) => deployment(world, 'failure', id),
  'deployment # succeeds': (world, _at, id) => deployment(world, 'success', id),
  'what the first machine stored is in ~/team': async (world, at) => {
    const first = world.machines.get('first');
    if (first === undefined) throw new Error('there is no first machine');
    mkdirSync(join(at.home, 'team'));
    for (const name of ['channel', 'relay-read-key', 'webhook-secret'])
      writeFileSync(join(at.home, 'team', name), readFileSync(join(first.home, 'team', name)), {
        mode: 0o600,
      });
  },
};

/** Does it, and waits until every daemon has processed it. */
export async function doDeed(world: GuideWorld, at: Machine, what: string): Promise<void> {
  const [number = ''] = /\d{3,}/.exec(what) ?? [];
  const deed = deeds[what] ?? deeds[what.replace(number, '#')];
  if (deed === undefined)
    throw new Error(`docs/guide/testing/guide-story.ts does not know how to do: ${what}`);
  await deed(world, at, number);
  for (const machine of [...world.machines.values()].filter(hasDaemon)) await until(() => isIdle(machine));
}

async function deployment(world: GuideWorld, state: string, number: string): Promise<void> {
  const id = Number(number);
  if (state === 'in_progress') await happens(world, 'deployment created', { deployment: { id } });
  await happens(world, `deployment_status ${state}`, { deployment: { id } });
}

/** Sends a delivery to every hook of acme/web and waits until each running daemon has logged it. */
async function happens(world: GuideWorld, name: string, patch: JsonObject = {}): Promise<void> {
  const story = patched(codehostExample(name), name, now(name));
  const { type, payload } = patched(story, name, patch);
  const { guid, deliveries } = await world.codehost.emit('acme/web', type, payload);
  if (deliveries.length === 0) throw new Error(`${name}: acme/web has no hook that wants it`);
  for (const { home } of [...world.machines.values()].filter(hasDaemon))
    await until(() => logOf(home).includes(guid));
}

/** The example with the names of the guide and the current time. */
function now(name: string): JsonObject {
  const time = new Date().toISOString();
  const pull = {
    html_url: 'https://code.example/acme/web/pull/42',
    user: { login: 'kim' },
    head: { sha: HEAD },
    created_at: time,
    updated_at: time,
    ...(name.endsWith('merged') && { merge_commit_sha: MERGE, merged_at: time, closed_at: time }),
  };
  return {
    sender: { login: 'kim' },
    ...(name.startsWith('pull_request') && { pull_request: pull }),
    ...(name.startsWith('check_suite') && {
      check_suite: {
        head_sha: HEAD,
        created_at: time,
        updated_at: time,
        app: { name: 'build', slug: 'build' },
      },
    }),
    ...(name.startsWith('deployment') && { deployment: { sha: MERGE, created_at: time, updated_at: time } }),
    ...(name.startsWith('deployment_status') && {
      deployment_status: { created_at: time, updated_at: time },
    }),
  };
}

/** Writes the worker's signal file atomically, as an agent does. */
function writeSignal(home: string): void {
  const file = join(home, 'svc/runs/run-1/workers/ENG-42.json');
  const time = new Date().toISOString();
  const signal = {
    ticket: 'ENG-42',
    orchestrator: 'run-1',
    workerName: 'run-1-ENG-42',
    status: 'pr-created',
    phase: 4,
    startedAt: time,
    updatedAt: time,
    repo: 'acme/web',
    branch: 'eng-42-login-form',
    pr: { number: 42 },
  };
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, JSON.stringify(signal));
  renameSync(`${file}.new`, file);
}

function logOf(home: string): string {
  return globSync(join(home, 'svc/events/*.jsonl'))
    .map((file) => readFileSync(file, 'utf8'))
    .join('');
}

function hasDaemon({ home }: Machine): boolean {
  return existsSync(join(home, 'svc/daemon.json'));
}

/** The board has folded every line, and no effect is pending. */
async function isIdle({ url }: Machine): Promise<boolean> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return ['svc_state_lag_lines', 'svc_outbox_pending'].every((name) => metrics.includes(`\n${name} 0\n`));
}

async function isWatched({ url }: Machine): Promise<boolean> {
  const { repos } = (await (await fetch(`${url}/api/feeds`)).json()) as {
    repos: { repo: string; by: string }[];
  };
  return repos.some(({ repo, by }) => repo === 'acme/web' && by === 'webhook');
}

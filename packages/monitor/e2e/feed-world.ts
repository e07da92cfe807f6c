// A machine with feeds: the code host's fake behind the real gh, a relay, a project that watches a repository.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { RunCommand } from '@svc/lib/process';
import {
  ghEnvironment,
  startFakeCodehost,
  startPublicRelay,
  temporaryFolder,
  testTerminal,
} from '@svc/testkit';
import { onTestFinished } from 'vitest';
import { runCommandLine } from '../src/cli/run.ts';
import { type InProcessDaemon, startInProcess } from './in-process-daemon.ts';
import { runDoctor } from './run-doctor.ts';

export const SECRET = 'c'.repeat(64);

export type FeedWorld = Awaited<ReturnType<typeof feedWorld>>;

export async function feedWorld() {
  const relay = await startPublicRelay({ pingMs: 500 });
  const codehost = await startFakeCodehost({ folder: temporaryFolder() });
  onTestFinished(async () => {
    await relay.stop();
    await codehost.close();
  });
  codehost.addToken('token');
  codehost.cloud.addRepo('acme/web');
  const home = temporaryFolder();
  const channel = relay.newChannel();
  const write = (path: string, value: unknown) => {
    mkdirSync(dirname(join(home, path)), { recursive: true, mode: 0o700 });
    writeFileSync(join(home, path), JSON.stringify(value));
    if (path.startsWith('.config/')) chmodSync(join(home, path), 0o600);
  };
  const useChannel = (smeeChannel: string | undefined) =>
    write('.config/svc/config.json', { svc: { monitor: { github: { smeeChannel } } } });
  useChannel(channel);
  write('.svc/config.json', {
    svc: {
      projectKey: 'demo',
      repository: { org: 'acme', name: 'web' },
      monitor: { github: { watchRepos: ['acme/web'] } },
    },
  });
  const environment = { ...ghEnvironment(codehost, 'token'), SVC_WEBHOOK_SECRET: SECRET };
  let inForce: Record<string, string> = environment;
  let machine: { now?: () => Date; run?: RunCommand } = {};
  /** Variables that are undefined in `more` are not set. */
  const start = (more: Record<string, string | undefined> = {}, other: typeof machine = {}) => {
    const set = Object.entries({ ...environment, ...more }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    inForce = Object.fromEntries(set);
    machine = other;
    return startInProcess({ home, environment: inForce, ...machine });
  };
  const doctor = (...words: string[]) =>
    runDoctor({ home, environment: inForce, tools: machine.run ? { run: machine.run } : {} }, ...words);
  const svc = async (...words: string[]) => {
    const terminal = { ...testTerminal({ environment: { SVC_DATA_DIR: join(home, 'svc') } }), folder: home };
    const code = await runCommandLine(terminal, words);
    return { code, printed: terminal.printed() };
  };
  return { relay, codehost, channel, home, write, useChannel, start, svc, doctor };
}

/** The code host sends a ping to a new hook, which is an event too. */
export const facts = (daemon: InProcessDaemon) =>
  daemon.lines().filter(({ event }) => event !== 'codehost.other');

export const covered = async (daemon: InProcessDaemon): Promise<boolean> => {
  const { body } = await daemon.get('/api/feeds');
  return (body['repos'] as { by: string }[])[0]?.by === 'webhook';
};

// The machines of the guide, each with its own home, and the services around them: the real gh against a fake code host,
// a fake tracker, a relay with the public protocol. `svc` is the build in bin/.
import { execFileSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  codehostForTest,
  createRandom,
  ghEnvironment,
  natsPath,
  startPublicRelay,
  temporaryFolder,
  testToken,
  testTracker,
  WAIT_MS,
} from '@svc/testkit';
import { onTestFinished } from 'vitest';
import { freePort } from '../../../packages/testkit/src/daemon/free-port.ts';
import { type GuideShell, openShell } from './guide-shell.ts';

const programs = join(import.meta.dirname, '../../../bin');
const TOKEN = 'hush-tracker-token';

export type GuideWorld = Awaited<ReturnType<typeof guideWorld>>;
export type Machine = {
  home: string;
  /** The address of its daemon. */
  url: string;
  shell: GuideShell;
  /** Printed output with the names and ports of the guide. */
  asShown: (printed: string) => string;
};

export async function guideWorld() {
  const relay = await startPublicRelay({ pingMs: 500 });
  onTestFinished(() => relay.stop());
  const codehost = await codehostForTest();
  codehost.cloud.addRepo('acme/web');
  codehost.cloud.addRepo('acme/api');
  codehost.cloud.addDeployment('acme/web', { sha: 'a'.repeat(40), environment: 'production' });
  const tracker = await testTracker(TOKEN);
  const team = tracker.cloud.addTeam({ key: 'ENG', name: 'Engineering' });
  tracker.cloud.addIssue({ teamId: team.id, number: 42, title: 'Add the login form' });
  const random = createRandom(process.pid);
  // Ports in the guide, and the ports used instead.
  const shared = { '7500': await freePort(random), '4222': await freePort(random) };
  const machines = new Map<string, Machine>();

  async function machine(name: string): Promise<Machine> {
    const known = machines.get(name);
    if (known !== undefined) return known;
    const home = temporaryFolder(`svc-guide-${name}-`);
    const folder = join(home, 'web');
    execFileSync('git', ['init', '--quiet', folder]);
    execFileSync('git', ['-C', folder, 'remote', 'add', 'origin', 'git@code.example:acme/web.git']);
    writeFileSync(join(home, 'tracker-token.txt'), `${TOKEN}\n`, { mode: 0o600 });
    const ports = { '7400': await freePort(random), ...shared };
    const environment = {
      ...ghEnvironment(
        codehost,
        testToken,
        `${npmShim()}:${programs}:${nodeFolder}:${natsFolder}:/usr/sbin:/usr/bin:/bin`,
      ),
      HOME: home,
      USER: 'kim',
      TERM: 'dumb',
      NO_COLOR: '1',
      SVC_MONITOR_PORT: String(ports['7400']),
      SVC_TRACKER_API_URL: tracker.url,
      SVC_RELAY_URL: relay.url,
      SVC_RELAY_PORT: String(ports['7500']),
      SVC_RELAY_NATS: `nats://127.0.0.1:${ports['4222']}`,
    };
    const shell = openShell({
      folder,
      scratch: temporaryFolder(),
      environment,
      stuckAfterMs: WAIT_MS,
    });
    onTestFinished(async () => {
      await shell.end();
      execFileSync(join(programs, 'svc'), ['monitor', 'stop'], {
        cwd: folder,
        env: environment,
        stdio: 'ignore',
      });
    });
    const swaps = Object.entries(ports).map(([shown, used]) => [shown, String(used)] as const);
    const made: Machine = {
      home,
      url: `http://127.0.0.1:${ports['7400']}`,
      shell: {
        ...shell,
        run: (commands) =>
          shell.run(swaps.reduce((text, [shown, used]) => text.replaceAll(shown, used), commands)),
      },
      asShown: (printed) =>
        swaps
          .reduce((text, [shown, used]) => text.replaceAll(used, shown), printed)
          .replaceAll(home, '/home/kim')
          .replaceAll(relay.url, 'https://relay.example'),
    };
    machines.set(name, made);
    return made;
  }

  return { machine, machines, codehost };
}

const nodeFolder = dirname(process.execPath);
const natsFolder = natsPath().split(':')[0];

/**
 * `npm install --global svc-monitor` installs nothing here, because bin/ of this repository is used. The release tests
 * check that the package can be installed.
 */
function npmShim(): string {
  const folder = temporaryFolder('svc-guide-npm-');
  const script = [
    '#!/bin/sh',
    '[ "$*" = "install --global svc-monitor" ] && exit 0',
    'echo "not in a test: npm $*" >&2',
    'exit 1',
  ];
  writeFileSync(join(folder, 'npm'), `${script.join('\n')}\n`);
  chmodSync(join(folder, 'npm'), 0o755);
  return folder;
}

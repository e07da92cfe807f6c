// The demo's home: a temporary folder with everything that the daemon reads and writes, and a marker with its owner. It
// is removed with the demo; if the demo was killed, leftovers.ts finds it by its name and marker.
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { projectSettings, repos, TICKET_PREFIX } from './project.ts';

export const HOME_PREFIX = 'svc-demo-';
export const MARKER = 'demo.json';
/** The process that owns the home. */
export type Marker = { pid: number; startedAt: string };

export type DemoHome = {
  path: string;
  dataDir: string;
  eventsDir: string;
  runsDir: string;
  /** The project's folder, in which the daemon runs. */
  project: string;
  /** Used by this demo alone. */
  secrets: { codehost: string; tracker: string };
  remove: () => void;
};

export function makeHome(parent: string, pid: number): DemoHome {
  const path = realpathSync(mkdtempSync(join(parent, HOME_PREFIX)));
  const marker: Marker = { pid, startedAt: new Date().toISOString() };
  writeFileSync(join(path, MARKER), JSON.stringify(marker), { mode: 0o600 });
  const dataDir = join(path, 'svc');
  const project = join(path, 'tideline');
  mkdirSync(join(path, 'bin'));
  mkdirSync(project);
  return {
    path,
    dataDir,
    eventsDir: join(dataDir, 'events'),
    runsDir: join(dataDir, 'runs'),
    project,
    secrets: { codehost: randomBytes(32).toString('hex'), tracker: randomBytes(32).toString('hex') },
    remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }),
  };
}

/** The only programs that the daemon finds: no other program or login of this machine is used. */
export function writePrograms(home: DemoHome, git: string | undefined): void {
  writeFileSync(join(home.path, 'bin/gh'), startOf(process.execPath, besideThis('gh')), { mode: 0o700 });
  if (git !== undefined) writeFileSync(join(home.path, 'bin/git'), startOf(git), { mode: 0o700 });
}

function startOf(...words: string[]): string {
  return `#!/bin/sh\nexec ${words.map(quoted).join(' ')} "$@"\n`;
}

/** With the same extension: gh.ts, or gh.js in a build. */
function besideThis(name: string): string {
  return join(import.meta.dirname, `${name}${extname(import.meta.filename)}`);
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** The configuration of a normal setup: the machine's file and the project's. */
export function writeConfiguration(
  home: DemoHome,
  {
    channels,
    backends,
  }: {
    channels: { codehost: string; tracker: string };
    backends: { metricsUrl: string; logsUrl: string };
  },
): void {
  write(join(home.path, '.config/svc/config.json'), {
    svc: {
      monitor: {
        github: { smeeChannel: channels.codehost, hookRepos: [...repos] },
        linear: { smeeChannel: channels.tracker },
      },
      projects: [home.project],
    },
    archive: { root: join(home.dataDir, 'archives') },
    otel: { enabled: true, prometheusUrl: backends.metricsUrl, lokiUrl: backends.logsUrl },
  });
  write(join(home.path, `.config/svc/config-${projectSettings.projectKey}.json`), {
    svc: { tracker: { apiToken: 'lin_api_demo', teamKey: TICKET_PREFIX } },
  });
  const agent = {
    command: process.execPath,
    args: [besideThis('agent')],
    env: { DEMO_PID: `${process.pid}` },
  };
  const orchestration = { agents: { 'demo-agent': { ...agent, mode: 'ask' } } };
  write(join(home.project, '.svc/config.json'), { svc: { ...projectSettings, orchestration } });
}

function write(path: string, value: object): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, JSON.stringify(value, null, 2), { mode: 0o600 });
}

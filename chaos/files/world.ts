// The world of damaged-files.ts: a home of an ordinary user with projects, workers and an agent's files, and the real daemon.
// Every answer of the daemon is measured, and it must never end by itself.
import { execFileSync, spawn } from 'node:child_process';
import { createHash, createHmac, generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { api } from '../../packages/monitor/src/features/api.ts';
import type { ApiAnswer } from '../../packages/monitor/src/kernel/http/api-route.ts';
import type { ServerProcess } from '../../packages/testkit/src/daemon/server-process.ts';
import {
  codehostSecret,
  createDaemonHome,
  startDaemon,
} from '../../packages/testkit/src/daemon/start-daemon.ts';
import { writeInto } from '../../packages/testkit/src/script.ts';
import { open, own, uid } from './damages.ts';

export const LIMIT_MS = 2_000;
/**
 * A merge is judged by the policy at its line of the log, so it waits for the look at the files that is under way, and for one
 * that begins after it (receive/read-policy-first.ts): each ends within two seconds, and then its line is written.
 */
export const MERGE_LIMIT_MS = 3 * LIMIT_MS;
/** Then a question is given up, on a busy machine too. What took too long is a problem before. */
const HANGS_AFTER_MS = 60 * LIMIT_MS;
/** How long health may take to show a damage or a repair. A busy machine is slow; the daemon must still answer. */
const NOTICED_WITHIN_MS = 60_000;
const ASK_EVERY_MS = 100;
/** A verb is a process of its own, and a busy machine is slow. */
const VERB_ENDS_WITHIN_MS = 60_000;
/** Every so many projects has its configuration in the older file. */
const OLDER_FILE_EVERY = 8;
export const LAX = 'acme/lax';

export type Health = ApiAnswer<typeof api.getHealth>;
export type Project = { folder: string; repo: string };
export type FilesWorld = ReturnType<typeof createFilesWorld>;

export function createFilesWorld(count: number) {
  const home = createDaemonHome('chaos-files');
  const configDir = join(home.home, '.config/svc');
  const runsDir = join(home.dataDir, 'runs');
  const spoolDir = join(home.dataDir, 'spool');
  const projects: Project[] = Array.from({ length: count }, (_, index) => ({
    folder: join(home.home, `projects/p${index}`),
    repo: `acme/p${index}`,
  }));
  const older = new Set(
    projects.filter((_, index) => index % OLDER_FILE_EVERY === 1).map(({ folder }) => folder),
  );
  const projectFile = (folder: string): string =>
    join(folder, older.has(folder) ? '.claude/config.json' : '.svc/config.json');
  const laxProject: Project = { folder: join(home.home, 'lax'), repo: LAX };
  const shown = (file: string): string => relative(home.home, file);
  const problems: string[] = [];
  const slowest = { answer: 0, delivery: 0, noticed: 0, start: 0 };
  let noticedWithinMs = NOTICED_WITHIN_MS;
  let daemon: ServerProcess | undefined;
  let port = 0;
  let isMeantToRun = false;

  function note(problem: string): void {
    problems.push(problem);
    console.log(`  PROBLEM: ${problem}`);
  }

  function writeProject({ folder, repo }: Project, skipDeployVerification: boolean): void {
    const [org, name] = repo.split('/');
    writeInto(dirname(projectFile(folder)), basename(projectFile(folder)), {
      svc: {
        projectKey: name,
        repository: { org, name },
        deploy: { [repo]: { skipDeployVerification } },
      },
    });
    own(folder);
  }

  const workerFile = (ticket: string): string => join(runsDir, 'run1/workers', `${ticket}.json`);

  function writeWorker(ticket: string, repo: string, number: number): void {
    const file = workerFile(ticket);
    mkdirSync(dirname(file), { recursive: true });
    const text = JSON.stringify({
      ticket,
      orchestrator: 'run1',
      workerName: ticket,
      status: 'pr-created',
      phase: 5,
      startedAt: new Date(Date.now() - 120_000).toISOString(),
      updatedAt: new Date().toISOString(),
      repo,
      branch: `b${number}`,
      pr: { number, url: `https://github.com/${repo}/pull/${number}` },
    });
    writeFileSync(`${file}.tmp`, text);
    if (uid !== undefined) chownSync(`${file}.tmp`, uid, uid);
    renameSync(`${file}.tmp`, file);
  }

  /** What is left of an agent that has ended: what it was sent, and what it has written. */
  function writeAgent(ticket: string): void {
    const folder = join(runsDir, 'run1/workers/output');
    const lines = (...messages: object[]): string =>
      messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('');
    const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'Hello' } };
    mkdirSync(folder, { recursive: true });
    const sent = join(folder, `${ticket}.1.sent.jsonl`);
    const next = lines({ id: 1, method: 'initialize', params: { protocolVersion: 1 } });
    writeFileSync(sent, next);
    const digest = createHash('sha256').update('').digest('hex');
    writeFileSync(`${sent}.written`, JSON.stringify({ inode: statSync(sent).ino, size: 0, digest, next }));
    writeFileSync(
      join(folder, `${ticket}.1.journal.jsonl`),
      lines(
        { id: 1, result: { protocolVersion: 1 } },
        { method: 'session/update', params: { sessionId: 's', update } },
      ),
    );
  }

  /** A machine alone in its team, whose relay cannot be reached. */
  function writeTeam(): void {
    const pair = (type: 'ed25519' | 'x25519') => {
      const { privateKey } = type === 'ed25519' ? generateKeyPairSync(type) : generateKeyPairSync(type);
      return privateKey.export({ format: 'jwk' });
    };
    const [sign, agree] = [pair('ed25519'), pair('x25519')];
    const id = createHash('sha256')
      .update(Buffer.from(sign.x ?? '', 'base64url'))
      .digest('base64url')
      .slice(0, 22);
    const self = { id, person: 'ann', machine: 'laptop', role: 'admin', agree: agree.x };
    const key = randomBytes(32).toString('base64url');
    const file = {
      channelUrl: `http://127.0.0.1:9/${'c'.repeat(22)}`,
      keys: { id, signPublic: sign.x, sign, agreePublic: agree.x, agree },
      person: 'ann',
      machine: 'laptop',
      admin: id,
      adminAgree: agree.x,
      teamKeys: [{ epoch: 1, key, since: Date.now() }],
      rosterVersion: Date.now(),
      roster: { team: 'acme', names: key, members: [self], removed: [] },
      machines: { [id]: sign.x },
      invitation: null,
      invitations: [],
      used: [],
    };
    for (const name of ['team.json', 'team.json.1']) writeInto(configDir, name, file);
  }

  /** What svc keeps beside the log: some of it is read at a start, some of it when somebody looks at it. */
  function writeKept(): void {
    writeInto(home.dataDir, 'retention-due.json', { [join(runsDir, 'gone')]: new Date().toISOString() });
    writeInto(home.dataDir, 'hook-secrets.json', { 'acme/p0#1': 'a'.repeat(16) });
    writeInto(home.dataDir, 'agent-hooks.json', {
      claude: { file: join(home.home, '.claude/settings.json') },
    });
    writeInto(home.dataDir, 'hook-token', 't'.repeat(43));
    writeInto(laxProject.folder, '.git/HEAD', 'ref: refs/heads/main\n');
    writeInto(laxProject.folder, '.svc/findings/current.jsonl', '{"title":"One","body":"Two"}\n');
    execFileSync(process.execPath, [join(home.home, 'dist/svc.js'), 'context', 'init'], {
      cwd: laxProject.folder,
      env: { HOME: home.home, SVC_DATA_DIR: home.dataDir, PATH: process.env['PATH'] },
    });
    writeInto(configDir, 'webhook-secret', 'a secret of the code host\n');
    chmodSync(join(configDir, 'webhook-secret'), 0o600);
  }

  function archiveRun(): void {
    execFileSync(process.execPath, [join(home.home, 'dist/svc.js'), 'archive', 'sweep', 'run1'], {
      env: { HOME: home.home, SVC_DATA_DIR: home.dataDir, PATH: process.env['PATH'] },
      ...(uid !== undefined && { uid, gid: uid }),
    });
  }

  function create(): void {
    for (const [index, project] of projects.entries()) {
      mkdirSync(join(project.folder, '.git'), { recursive: true });
      writeFileSync(join(project.folder, '.git/HEAD'), 'ref: refs/heads/main\n');
      writeProject(project, false);
      if (index % 10 === 0) writeInto(configDir, `config-p${index}.json`, { svc: {} });
    }
    writeProject(laxProject, true);
    const folders = [...projects, laxProject].map(({ folder }) => folder);
    writeInto(configDir, 'config.json', { svc: { projects: folders } });
    mkdirSync(spoolDir, { recursive: true });
    for (let number = 0; number < 8; number += 1) {
      writeWorker(`OLD-${number}`, LAX, 10_000 + number);
      writeAgent(`OLD-${number}`);
    }
    writeTeam();
    writeKept();
    own(home.home);
  }

  // The daemon, and what it answers.

  async function start(startWithinMs: number): Promise<void> {
    const began = performance.now();
    daemon = startDaemon(home, {
      ...(uid !== undefined && { uid }),
      environment: { SVC_AUTONOMOUS: '1' },
    });
    const current = daemon;
    const watch = async (): Promise<void> => {
      const how = await current.ended;
      if (isMeantToRun && daemon === current) note(`the daemon ended by itself: ${how}`);
    };
    void watch();
    ({ port } = await current.ready);
    isMeantToRun = true;
    const took = performance.now() - began;
    slowest.start = Math.max(slowest.start, took);
    if (took > startWithinMs) note(`a start took ${took.toFixed(0)} ms`);
  }

  /** By thread, also of those that read files. On a busy machine they wait for their turn; that is not the daemon's fault. */
  function waits(): Map<string, number> {
    const tasks = `/proc/${daemon?.pid}/task`;
    if (!existsSync(tasks)) return new Map();
    return new Map(
      readdirSync(tasks).map((task) => {
        try {
          return [task, Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[1]) / 1e6];
        } catch {
          // The thread has ended meanwhile.
          return [task, 0];
        }
      }),
    );
  }

  /** How long its threads have waited: what is read one after the other waits in one thread, then in another. */
  function waitedSince(before: ReadonlyMap<string, number>): number {
    return [...waits()].reduce((sum, [task, waited]) => sum + waited - (before.get(task) ?? waited), 0);
  }

  /** Every answer is measured: this is the check for hangs. */
  async function ask<T>(
    path: string,
    body?: string,
    headers: Record<string, string> = {},
    /** Codes of refusals that are answers. */
    accepted: readonly string[] = [],
  ): Promise<T> {
    const began = performance.now();
    const before = waits();
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      signal: AbortSignal.timeout(HANGS_AFTER_MS),
      ...(body !== undefined && {
        method: 'POST',
        body,
        headers: { 'Content-Type': 'application/json', ...headers },
      }),
    }).catch((error: unknown) => {
      throw new Error(`${path} was not answered within ${HANGS_AFTER_MS / 1_000} s`, { cause: error });
    });
    const answer = (await response.json()) as T;
    const took = performance.now() - began - waitedSince(before);
    const which = body === undefined ? 'answer' : 'delivery';
    slowest[which] = Math.max(slowest[which], took);
    if (took > (body === undefined ? LIMIT_MS : MERGE_LIMIT_MS)) note(`${path} took ${took.toFixed(0)} ms`);
    const isAccepted = accepted.includes(String(Reflect.get(answer as object, 'code')));
    if (!response.ok && !isAccepted) note(`${path}: ${response.status} ${JSON.stringify(answer)}`);
    return answer;
  }

  async function waitUntil(what: string, holds: () => Promise<string[]>): Promise<boolean> {
    const began = performance.now();
    for (;;) {
      const missing = await holds();
      if (missing.length === 0) {
        slowest.noticed = Math.max(slowest.noticed, performance.now() - began);
        return true;
      }
      if (performance.now() - began > noticedWithinMs) {
        note(`${what}: ${missing.slice(0, 5).join('; ')}`);
        return false;
      }
      await sleep(ASK_EVERY_MS);
    }
  }

  const health = (): Promise<Health> => ask<Health>('/api/health');

  /** With a question to health while it is on its way. */
  async function merge(repo: string, number: number, accepted?: readonly string[]): Promise<void> {
    const at = new Date().toISOString();
    const sha = number.toString(16).padStart(40, 'a');
    const body = JSON.stringify({
      action: 'closed',
      number,
      pull_request: {
        number,
        state: 'closed',
        merged: true,
        merged_at: at,
        merge_commit_sha: sha,
        draft: false,
        title: 'Change',
        html_url: `https://github.com/${repo}/pull/${number}`,
        created_at: at,
        updated_at: at,
        closed_at: at,
        head: { ref: `b${number}`, sha: sha.replaceAll('a', 'b'), repo: { full_name: repo } },
        base: { ref: 'main', repo: { full_name: repo } },
      },
      repository: { full_name: repo },
    });
    const signature = createHmac('sha256', codehostSecret).update(body).digest('hex');
    const headers = {
      'X-Codehost-Event': 'pull_request',
      'X-Codehost-Delivery': randomUUID(),
      'X-Hub-Signature-256': `sha256=${signature}`,
    };
    const delivered = ask('/api/webhook', body, headers, accepted);
    await Promise.all([delivered, health()]);
  }

  /** What holds for each repository, and nothing that changes by itself. */
  async function policies(): Promise<Map<string, string>> {
    const path = '/api/deploy/policy';
    const answer = await ask<Partial<ApiAnswer<typeof api.getDeployPolicy>>>(path, undefined, {}, [
      'state-not-ready',
    ]);
    return new Map(
      (answer.policies ?? []).map(({ repo, verification, environment, timeoutSec, acceptDescendants }) => [
        repo,
        JSON.stringify({ verification, environment, timeoutSec, acceptDescendants }),
      ]),
    );
  }

  /** What a verb prints in a folder, started as a person would. */
  async function verb(folder: string, ...args: string[]): Promise<string> {
    const child = spawn(process.execPath, [join(home.home, 'dist/svc.js'), ...args], {
      cwd: folder,
      env: { HOME: home.home, SVC_DATA_DIR: home.dataDir, PATH: process.env['PATH'] },
      ...(uid !== undefined && { uid, gid: uid }),
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: VERB_ENDS_WITHIN_MS,
      killSignal: 'SIGKILL',
    });
    let printed = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (printed += text));
    const [, signal] = (await once(child, 'close')) as [number | null, string | null];
    if (signal !== null) note(`svc ${args.join(' ')} did not end in ${shown(folder)}`);
    return printed;
  }

  async function statuses(): Promise<Map<string, string>> {
    const { workers } = await ask<{ workers: { ticket: string; status: string }[] }>('/api/board?all=1');
    return new Map(workers.map(({ ticket, status }) => [ticket, status]));
  }

  /** Waits until the merge counts, whatever it counts as. */
  async function statusAfterMerge(ticket: string, repo: string, number: number): Promise<string> {
    writeWorker(ticket, repo, number);
    await waitUntil(`${ticket} is on the board`, async () =>
      (await statuses()).has(ticket) ? [] : [ticket],
    );
    await merge(repo, number);
    let status = '';
    await waitUntil(`the merge of ${ticket} counts`, async () => {
      status = (await statuses()).get(ticket) ?? '';
      return status === 'pr-created' ? [status] : [];
    });
    return status;
  }

  /** While the log may not be writable: then a delivery is refused with 503, and the worker keeps its state. */
  async function statusOrRefusal(ticket: string, repo: string, number: number): Promise<string> {
    writeWorker(ticket, repo, number);
    await merge(repo, number, ['log-not-writable']);
    await sleep(LIMIT_MS / 2);
    await merge(repo, number, ['log-not-writable']);
    return (await statuses()).get(ticket) ?? '';
  }

  return {
    home,
    configDir,
    runsDir,
    spoolDir,
    globalFile: join(configDir, 'config.json'),
    projects,
    laxProject,
    problems,
    slowest,
    note,
    create,
    archiveRun,
    writeProject,
    workerFile,
    projectFile,
    contextFile: join(laxProject.folder, '.svc/.workflow-context.json'),
    findingsFile: join(laxProject.folder, '.svc/findings/current.jsonl'),
    secretFile: join(configDir, 'webhook-secret'),
    verb,
    policies,
    shown,
    ask,
    waitUntil,
    health,
    merge,
    statusAfterMerge,
    statusOrRefusal,
    start,
    pid: () => daemon?.pid ?? 0,
    ended: () => daemon?.ended,
    async stop(): Promise<void> {
      isMeantToRun = false;
      const how = await daemon?.stop();
      if (how !== 0) note(`the daemon ended with ${how} when it was asked to stop`);
    },
    async kill(): Promise<void> {
      isMeantToRun = false;
      await daemon?.kill();
    },
    /** `running`, or what a start that was refused printed. */
    async startOnce(startWithinMs: number): Promise<string> {
      const before = existsSync(home.output) ? readFileSync(home.output, 'utf8').length : 0;
      try {
        await start(startWithinMs);
        return 'running';
      } catch {
        isMeantToRun = false;
        await daemon?.kill();
        return readFileSync(home.output, 'utf8').slice(before).slice(-2_000);
      }
    },
    /** For a check that has to fail. */
    async hasty<T>(work: () => Promise<T>): Promise<T> {
      noticedWithinMs = 3 * LIMIT_MS;
      try {
        return await work();
      } finally {
        noticedWithinMs = NOTICED_WITHIN_MS;
      }
    },
    remove(): void {
      open(home.home);
      home.remove();
    },
  };
}

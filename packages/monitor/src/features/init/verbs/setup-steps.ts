// The steps of the setup, from the answers. Each does what a separate command does, and is shown with that command when it
// fails. Every file is written whole or not at all, so an interruption leaves valid files and the next run continues.

import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '@svc/client';
import { ifPresent } from '@svc/lib/files';
import { readFile } from '@svc/lib/paths';
import { connectDaemon, daemonAt } from '../../../cli/kit/daemon-client.ts';
import { lastingFolder, register } from '../../../cli/kit/registration.ts';
import { checkRepository } from '../../../cli/kit/repository.ts';
import { openSession, requireConfig, type Session } from '../../../cli/kit/session.ts';
import { AnswerIsNo, Interrupted, type Terminal } from '../../../cli/kit/terminal.ts';
import { counted } from '../../../cli/kit/text.ts';
import type { DoctorResult, DoctorTools } from '../../../kernel/check/check.ts';
import { checkVerdict, verdictWords } from '../../../kernel/check/finding.ts';
import type { Machine } from '../../../kernel/config/environment.ts';
import { secretFilesIn } from '../../../kernel/config/locate.ts';
import { createConfigStore } from '../../../kernel/config/store.ts';
import { Failure } from '../../../kernel/failure.ts';
import { type Host, stopDaemon } from '../../../kernel/instance/control.ts';
import { findDaemon } from '../../../kernel/instance/find-daemon.ts';
import { runDoctor } from '../../doctor/checks/doctor.ts';
import { startFromTerminal } from '../../monitor/verbs/start-from-terminal.ts';
import { nextCommand } from '../../setup/first-steps.ts';
import { projectChanges } from '../../setup/project-changes.ts';
import { pollOnly, registerTrackerFeed, setUpCodehostFeed } from '../../setup/verbs/setup-webhooks.ts';
import { openTickets } from '../../tracker/dependencies.ts';
import { requireTracker } from '../../tracker/io/open-tracker.ts';
import { resolveTrackerIds, trackerGroup } from '../../tracker/io/resolve-ids.ts';
import { trackerMeans } from '../../tracker/verbs/tracker-means.ts';
import type { Answers } from './answers.ts';
import type { StepEnd, Steps } from './step.ts';

type FeedsReport = Answer<'GET', '/api/feeds'>;

/** Returns a function that lists the files changed since. They are compared by digest, because some hold secrets. */
async function watchFiles(files: readonly string[]): Promise<() => Promise<string[]>> {
  const before = await Promise.all(files.map(digestOf));
  return async () => {
    const after = await Promise.all(files.map(digestOf));
    return files.filter((_, index) => before[index] !== after[index]);
  };
}

async function digestOf(file: string): Promise<string | undefined> {
  const read = await ifPresent(readFile(file));
  return read && createHash('sha256').update(read.bytes).digest('hex');
}

// A daemon that has just started needs a moment to connect to the relay and to create its hooks. Checking it before that
// would report false problems.

const TIMEOUT_MS = 15_000;
const POLL_MS = 200;
const REQUEST_TIMEOUT_MS = 5_000;

/** True when no feed is still connecting. */
async function untilFeedsSettle(
  machine: Machine,
  url: string,
  { interrupted, timeoutMs = TIMEOUT_MS }: { interrupted: AbortSignal; timeoutMs?: number },
): Promise<boolean> {
  const daemon = daemonAt(machine, url, REQUEST_TIMEOUT_MS);
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    if (areSettled(await daemon.get('/api/feeds'))) return true;
    if (interrupted.aborted || performance.now() > deadline) return false;
    await sleep(POLL_MS);
  }
}

function areSettled({ tunnels, repos, codehost }: FeedsReport): boolean {
  return (
    tunnels.every(({ grade, why }) => grade !== 'connecting' || why !== null) &&
    repos.every(({ by, code }) => by === 'webhook' || code !== null) &&
    codehost.state !== 'starting'
  );
}

export type SetupOptions = {
  answers: Answers;
  startDaemon: boolean;
  host: Host;
  doctor: DoctorTools;
};

export type SetupResult = { url: string | null; findings: DoctorResult[]; next: string };

const TEAM_KEY = ['svc', 'tracker', 'teamKey'];

const skipped = (what: string, again?: string): StepEnd => ({
  outcome: 'skipped',
  what,
  ...(again !== undefined && { again }),
});

export async function setUpProject(
  terminal: Terminal,
  steps: Steps,
  options: SetupOptions,
): Promise<SetupResult> {
  const session = openSession(terminal);
  const { answers, host } = options;
  const { way, relay } = answers.deliveries;
  const { files } = await session.load();
  const changed = await watchFiles([
    files.project.file,
    files.global,
    ...secretFilesIn(session.machine.configDir),
  ]);
  const ownRelay = way === 'own-relay' && relay !== null ? relay : undefined;
  const relayFlag = ownRelay === undefined ? '' : ` --relay ${ownRelay}`;
  const run: Steps['run'] = (name, again, work) => {
    // Between two steps, so nothing is half done.
    if (terminal.interrupted.aborted) throw new Interrupted();
    return steps.run(name, again, work);
  };

  const isProject = await run('project-file', 'svc init', (quiet) =>
    writeProjectFile(quiet, session, answers),
  );
  // The issues of the repository need no token, and come with the feed of the code host.
  const byGithub = answers.tracker === 'github';
  let isReachable = byGithub;
  if (isProject) {
    if (!byGithub) {
      isReachable = await run('secrets', 'svc config set svc.tracker.apiToken - < token.txt', () =>
        writeToken(session, answers),
      );
      isReachable &&= answers.token !== undefined;
    }
    await run('registration', 'svc check-project-setup', () => registerProject(terminal, session));
    const hasIds = await run('tracker-ids', 'svc resolve-tracker-ids', (quiet) =>
      isReachable && answers.ticketPrefix !== undefined
        ? resolveIds(quiet, session)
        : Promise.resolve(
            skipped(
              answers.token === undefined
                ? 'no API token for the issue tracker'
                : 'no team, or no token in its file',
            ),
          ),
    );
    await run('code-host-feed', `svc setup-webhooks${relayFlag}`, (quiet) =>
      way === 'polling'
        ? pollingStep(quiet, session, answers.repository)
        : feedStep(
            session,
            () => setUpCodehostFeed(quiet, session, ownRelay === undefined ? {} : { relay: ownRelay }),
            'relay channel and secret of the code host',
          ),
    );
    if (!byGithub)
      await run('tracker-feed', `svc setup-webhooks --linear-register${relayFlag}`, (quiet) =>
        way === 'polling'
          ? Promise.resolve(
              skipped('the tracker is polled', `svc setup-webhooks --linear-register${relayFlag}`),
            )
          : isReachable && hasIds && answers.ticketPrefix !== undefined
            ? feedStep(
                session,
                () => registerTrackerFeed(quiet, session, ownRelay === undefined ? {} : { relay: ownRelay }),
                'webhook of the issue tracker',
              )
            : Promise.resolve(
                skipped(
                  answers.token === undefined
                    ? 'no API token for the issue tracker'
                    : 'the team’s ids are not known yet',
                ),
              ),
      );
  }

  let url: string | null = null;
  await run('daemon', 'svc monitor restart', async (quiet) => {
    if (!options.startDaemon) return skipped('not started (--no-start)', 'svc monitor start');
    const done = await runDaemon(quiet, session, host, (await changed()).length > 0);
    url = done.url;
    return done.end;
  });
  let findings: DoctorResult[] = [];
  await run('doctor', 'svc doctor', async () => {
    if (!options.startDaemon) return skipped('the daemon was not started', 'svc doctor');
    if (url !== null) await untilFeedsSettle(session.machine, url, terminal);
    findings = await runDoctor(terminal, options.doctor);
    const verdict = checkVerdict(findings);
    if (verdict.ok) return { outcome: 'done', what: verdictWords(verdict) };
    throw new AnswerIsNo(verdictWords(verdict));
  });
  return { url, findings, next: url === null ? 'svc monitor start' : await nextStep(session, url) };
}

/** The command to run next, as the first board shows it. */
async function nextStep(session: Session, url: string): Promise<string> {
  const daemon = daemonAt(session.machine, url, REQUEST_TIMEOUT_MS);
  try {
    const project = (await session.load()).files.project.folder;
    const [{ agents }, health, { tickets, runs }] = await Promise.all([
      daemon.get('/api/agents', { query: { project } }),
      daemon.get('/api/health'),
      daemon.get('/api/board'),
    ]);
    return nextCommand({ agents, health, ticket: openTickets({ tickets, runs })[0]?.ticket });
  } catch (error) {
    // What it does is over; a daemon that is still reading its log must not fail the setup.
    if (error instanceof Failure) return 'svc board';
    throw error;
  }
}

async function writeProjectFile(quiet: Terminal, session: Session, answers: Answers): Promise<StepEnd> {
  const { config, ...loaded } = await requireConfig(quiet, session);
  const { file } = loaded.files.project;
  const group = trackerGroup(loaded);
  const changes = projectChanges(config, answers).map(({ path, value }) => ({
    // Under the key that the file already uses for the tracker, which may be the vendor's name.
    path: path[1] === 'tracker' ? [...group, ...path.slice(2)] : path,
    value,
  }));
  if (changes.length === 0) return { outcome: 'unchanged', what: `${file} is up to date` };
  await createConfigStore({ locks: session.locks, files: loaded.files }).setMany('project', changes);
  return { outcome: 'done', what: `wrote ${counted(changes.length, 'value')} to ${file}; commit it` };
}

/** The secrets file has the team next to the token. A missing or different team is corrected here. */
async function writeToken(
  session: Session,
  { token, ticketPrefix }: Pick<Answers, 'token' | 'ticketPrefix'>,
): Promise<StepEnd> {
  const { files, values } = await session.load();
  if (token === undefined)
    return skipped(
      'no API token for the issue tracker, so its tickets are not tracked',
      'svc config set svc.tracker.apiToken - < token.txt',
    );
  const kept: StepEnd = { outcome: 'unchanged', what: `the token is in ${files.secrets.file}` };
  if (!token.isNew && files.secrets.fallback) return kept;
  // A new secrets file would hide the secrets that the project has in the global one.
  const usesGlobal =
    files.secrets.fallback &&
    values.some(
      ({ field, source }) => field.secret && source.kind === 'file' && source.file === files.global,
    );
  const store = createConfigStore({ locks: session.locks, files });
  if (ticketPrefix === undefined && !usesGlobal)
    return skipped('no team for the token', 'svc init --team <KEY>');
  const team = usesGlobal ? [] : [{ path: TEAM_KEY, value: ticketPrefix }];
  if (!token.isNew) {
    const isNamed = await watchFiles([files.secrets.file]);
    const file = await store.setMany('secrets', team);
    return (await isNamed()).length === 0 ? kept : { outcome: 'done', what: `set the team in ${file}` };
  }
  const file = await store.setMany(usesGlobal ? 'global' : 'secrets', [
    { path: ['svc', 'tracker', 'apiToken'], value: token.value },
    ...team,
  ]);
  return { outcome: 'done', what: `stored the token in ${file} (mode 600)` };
}

async function registerProject(terminal: Terminal, session: Session): Promise<StepEnd> {
  const { files } = await session.load();
  const { folder = terminal.folder } = files.project;
  const { repository } = await checkRepository(terminal);
  const changed = await watchFiles([files.global]);
  const { what } = await register(session, files, await lastingFolder(folder, repository, terminal.home));
  return { outcome: (await changed()).length > 0 ? 'done' : 'unchanged', what };
}

async function resolveIds(quiet: Terminal, session: Session): Promise<StepEnd> {
  const loaded = await requireConfig(quiet, session);
  const ids = await resolveTrackerIds({
    loaded,
    store: createConfigStore({ locks: session.locks, files: loaded.files }),
    force: false,
    connect: () => requireTracker(loaded, trackerMeans(quiet, session.machine)),
  });
  for (const { phase, name } of ids.unknown)
    quiet.err(
      `warning: svc.tracker.stateMap.${phase} is ${JSON.stringify(name)}, but the team has no such state. Name one: svc config set svc.tracker.stateMap.${phase} <state>`,
    );
  const states = counted(Object.keys(ids.stateIds).length, 'state');
  return ids.asked
    ? {
        outcome: 'done',
        what: `stored the ids of ${ids.teamId.includes('/') ? ids.teamId : 'the team'} and ${states} in ${ids.file}`,
      }
    : { outcome: 'unchanged', what: `the ids are already in ${ids.file}` };
}

async function feedStep(session: Session, work: () => Promise<void>, what: string): Promise<StepEnd> {
  const { files } = await session.load();
  const changed = await watchFiles([
    files.project.file,
    files.global,
    ...secretFilesIn(session.machine.configDir),
  ]);
  await work();
  const isChanged = (await changed()).length > 0;
  return { outcome: isChanged ? 'done' : 'unchanged', what: `${what}: ${isChanged ? 'set up' : 'kept'}` };
}

async function pollingStep(quiet: Terminal, session: Session, repository: string): Promise<StepEnd> {
  const isChanged = await pollOnly(quiet, session, repository);
  return { outcome: isChanged ? 'done' : 'unchanged', what: `${repository} is polled, without a webhook` };
}

/** Keeps a running daemon that serves the project, if nothing has changed. */
async function runDaemon(
  quiet: Terminal,
  session: Session,
  host: Host,
  hasChanged: boolean,
): Promise<{ url: string; end: StepEnd }> {
  const { machine } = session;
  const before = await findDaemon(machine.dataDir);
  const folder = (await session.load()).files.project.folder ?? quiet.folder;
  if (before.state === 'running') {
    const health = await (await connectDaemon(machine))?.get('/api/health');
    const { pid, url } = before.daemon;
    if (!hasChanged && health?.configuration.folders.includes(folder) === true)
      return { url, end: { outcome: 'unchanged', what: `running: pid ${pid}, ${url}` } };
    await stopDaemon({ dataDir: machine.dataDir, signal: host.signal, interrupted: quiet.interrupted });
  }
  const { daemon } = await startFromTerminal({ ...quiet, folder }, host, session);
  const outcome = before.state === 'running' ? 'restarted' : 'started';
  return { url: daemon.url, end: { outcome: 'done', what: `${outcome}: pid ${daemon.pid}, ${daemon.url}` } };
}

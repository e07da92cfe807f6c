// svc init
import { resolve } from 'node:path';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { repoKey } from '@svc/contract/repo-name';
import { systemErrorCode } from '@svc/lib/errors';
import { readText } from '@svc/lib/paths';
import { openSession, requireConfig, type Session } from '../../../cli/kit/session.ts';
import { Interrupted, isInteractive, paint, printJson, type Terminal } from '../../../cli/kit/terminal.ts';
import { verb } from '../../../cli/kit/verb.ts';
import type { DoctorTools } from '../../../kernel/check/check.ts';
import { relayReadKeyFile } from '../../../kernel/config/locate.ts';
import { readSecretFile } from '../../../kernel/disk/atomic-write.ts';
import { Failure } from '../../../kernel/failure.ts';
import { type Host, thisProcess } from '../../../kernel/instance/control.ts';
import { hookMemoryFile, openHookMemory } from '../../codehost/io/hooks.ts';
import { loadProjects } from '../../configure.ts';
import { doctorTools } from '../../doctor/checks/doctor.ts';
import { ownRelayUrl } from '../../feeds/io/provision-channel.ts';
import { ticketPrefixOf } from '../../tracker/tracker-of.ts';
import { type Answers, collectAnswers } from './answers.ts';
import { type AskingDeliveries, type Deliveries, deliveryWords } from './deliveries.ts';
import { createLookups, findStoredToken } from './lookups.ts';
import { createPrompter, type Prompter } from './prompter.ts';
import { type SetupResult, setUpProject } from './setup-steps.ts';
import { createSteps, type Steps } from './step.ts';

const MOST_TOKEN_BYTES = 4096;

type Options = {
  yes?: true;
  json?: true;
  repo?: string;
  projectKey?: string;
  tracker?: string;
  tokenFile?: string;
  tokenStdin?: true;
  team?: string;
  ticketPrefix?: string;
  environment?: string;
  relay?: string;
  publicRelay?: true;
  webhooks: boolean;
  start: boolean;
  project?: string;
};

export type InitParts = {
  host: Host;
  doctor: DoctorTools;
  prompter: (interrupted: AbortSignal) => Promise<Prompter>;
};

const realParts: InitParts = { host: thisProcess, doctor: doctorTools, prompter: createPrompter };

export function initVerb(terminal: Terminal, parts: InitParts = realParts): CommandUnknownOpts {
  return verb('init', {
    summary: 'Set up a project and start the daemon',
    details:
      'Asks at most eight questions; with GitHub Issues as the tracker five, and it needs no token besides gh auth login. Safe to run again. A secret is never passed as an argument. A step that fails is shown with the command that repeats it; the other steps still run.\nExit codes: 0 all done and nothing is broken, 1 the doctor found a problem, 2 usage, 4 configuration, 6 a step failed, 130 Ctrl-C',
    example: [
      'svc init',
      'svc init --yes',
      'svc init --yes --repo acme/web --team ABC --token-file token.txt',
    ],
    route: 'GET /api/health, GET /api/feeds, POST /api/doctor',
  })
    .option('--yes', 'ask nothing; use configured or detected values')
    .option('--json', 'print what was done as one JSON object')
    .option('--repo <owner/name>', 'repository (default: the git remote)')
    .option('--project-key <key>', 'key of the project (default: the repository name)')
    .option('--tracker <name>', 'where the tickets are: github, linear or none')
    .option('--token-file <path>', 'file with the API token of the issue tracker')
    .option('--token-stdin', 'read the API token from standard input')
    .option('--team <key>', 'team at the issue tracker (default: by the token)')
    .option('--ticket-prefix <prefix>', 'the same as --team')
    .option('--environment <name>', 'deploy environment that makes a ticket done, or none')
    .option('--relay <url>', 'create the channels at your own relay (svc-relay)')
    .option('--public-relay', 'let deliveries pass through the public relay')
    .option('--no-webhooks', 'set up no webhooks; poll instead')
    .option('--no-start', 'do not start the daemon')
    .option('--project <folder>', 'project folder (default: found from here upwards)')
    .action(async (options: Options) => {
      const given = await givenAnswers(terminal, options);
      const inside = await insideProject(terminal, options.project);
      const mode = askMode(terminal, options);
      const prompter = mode === 'ask' ? await parts.prompter(terminal.interrupted) : undefined;
      const answers = await collect(inside, given, prompter).catch((error: unknown) => {
        if (error instanceof Interrupted || terminal.interrupted.aborted) {
          terminal.err('Nothing was written.');
          throw new Interrupted();
        }
        throw error;
      });
      const steps = createSteps(inside, options.json ? terminal.err : terminal.out);
      const result = await setUpProject(inside, steps, {
        answers,
        startDaemon: options.start,
        ...parts,
      }).catch((error: unknown) => {
        if (error instanceof Interrupted)
          terminal.err('Interrupted. The files written so far are valid. Continue: svc init');
        throw error;
      });
      if (options.json) printJson(terminal, reportOf(inside, answers, steps, result));
      else printEnd(terminal, steps, answers.deliveries, result);
      endWith(steps);
    });
}

/** The folder of the project, otherwise the root of the checkout, where a project file belongs. */
async function insideProject(terminal: Terminal, folder: string | undefined): Promise<Terminal> {
  const start = resolve(terminal.folder, folder ?? '.');
  const within = { ...terminal, folder: start };
  const session = openSession(within);
  const { files } = await session.load();
  if (files.project.folder !== undefined) return { ...within, folder: files.project.folder };
  const { root } = await createLookups(within, session.machine).checkout(start);
  return { ...within, folder: root ?? start };
}

/** Whether to ask. Without a terminal, every question needs its flag, or --yes. */
function askMode(terminal: Terminal, options: Options): 'ask' | 'take' {
  if (options.yes) return 'take';
  const missing = [
    ...(options.repo === undefined ? ['--repo <owner/name>'] : []),
    ...(options.projectKey === undefined ? ['--project-key <key>'] : []),
    ...(options.tracker === undefined && options.tokenFile === undefined && !options.tokenStdin
      ? ['--tracker <name>']
      : []),
    ...(options.tracker === 'linear' && options.tokenFile === undefined && !options.tokenStdin
      ? ['--token-file <path>']
      : []),
    ...(options.tracker !== 'github' && options.team === undefined && options.ticketPrefix === undefined
      ? ['--team <key>']
      : []),
    ...(options.environment === undefined ? ['--environment <name>'] : []),
    ...(givenDeliveries(options) === undefined ? ['--no-webhooks (or --relay <url>, --public-relay)'] : []),
  ];
  if (missing.length === 0) return 'take';
  if (isInteractive(terminal) && !options.tokenStdin) return 'ask';
  throw new Failure(
    'usage',
    'svc init needs answers, and there is no terminal to ask at.',
    `Use configured and detected values: svc init --yes\nor pass what is missing: ${missing.join(' ')}`,
  );
}

function givenDeliveries({ relay, publicRelay, webhooks }: Options): AskingDeliveries['given'] {
  const named = [
    ...(webhooks ? [] : [{ way: 'polling' as const }]),
    ...(relay === undefined ? [] : [{ way: 'own-relay' as const, relay: ownRelayUrl(relay) }]),
    ...(publicRelay ? [{ way: 'public-relay' as const }] : []),
  ];
  if (named.length > 1)
    throw new Failure('usage', 'Only one of --relay, --public-relay and --no-webhooks can be used.');
  return named[0];
}

async function givenAnswers(terminal: Terminal, options: Options) {
  if (options.tokenFile !== undefined && options.tokenStdin)
    throw new Failure('usage', '--token-file and --token-stdin cannot be used together.');
  const { repo, projectKey, tracker, team, ticketPrefix, environment } = options;
  return {
    repo,
    projectKey,
    tracker,
    team,
    ticketPrefix,
    environment,
    // A wrong address is an error before the questions, not after them.
    deliveries: givenDeliveries(options),
    token: await givenToken(terminal, options),
  };
}

async function givenToken(
  terminal: Terminal,
  { tokenFile, tokenStdin }: Options,
): Promise<string | undefined> {
  if (tokenStdin) return (await terminal.readInput()).slice(0, MOST_TOKEN_BYTES).trim();
  if (tokenFile === undefined) return undefined;
  try {
    return (await readText(resolve(terminal.folder, tokenFile))).slice(0, MOST_TOKEN_BYTES).trim();
  } catch (error) {
    throw new Failure(
      'usage',
      `--token-file: ${tokenFile} cannot be read (${systemErrorCode(error) ?? 'unknown reason'}).`,
    );
  }
}

async function collect(
  terminal: Terminal,
  given: Awaited<ReturnType<typeof givenAnswers>>,
  prompter: Prompter | undefined,
): Promise<Answers> {
  const session = openSession(terminal);
  const loaded = await requireConfig(terminal, session);
  const lookups = createLookups(terminal, session.machine);
  const { configDir, dataDir } = session.machine;
  const hooked = (await openHookMemory(hookMemoryFile(dataDir))).repos();
  return collectAnswers({
    given,
    config: loaded.config,
    checkout: await lookups.checkout(terminal.folder),
    storedToken: (projectKey) => findStoredToken(session.machine, loaded, projectKey),
    otherPrefixes: await otherPrefixes(terminal, session, loaded.files.project.file),
    relays: {
      publicRelay: session.machine.relayUrl,
      hasReadKey: (await readSecretFile(relayReadKeyFile(configDir, 'codehost'))) !== undefined,
      isHooked: (repository) => hooked.includes(repoKey(repository)),
    },
    lookups,
    prompter,
    warn: (line) => terminal.err(`warning: ${line}`),
  });
}

async function otherPrefixes(terminal: Terminal, { machine }: Session, own: string): Promise<Set<string>> {
  const { projects } = await loadProjects(machine, terminal.environment, terminal.folder);
  const others = projects.filter(({ files }) => files.project.file !== own);
  return new Set(others.flatMap(({ usable }) => ticketPrefixOf(usable)?.toUpperCase() ?? []));
}

function reportOf(
  terminal: Terminal,
  answers: Answers,
  steps: Steps,
  { url, findings, next }: SetupResult,
): object {
  const { token, states, ...others } = answers;
  return {
    ok: steps.firstError() === undefined,
    folder: terminal.folder,
    answers: {
      ...others,
      tracker: others.tracker ?? null,
      ticketPrefix: others.ticketPrefix ?? null,
      states,
      token: token === undefined ? 'none' : token.isNew ? 'new' : 'kept',
    },
    steps: steps.reports,
    findings: findings.map(({ fix: _, ...finding }) => finding),
    dashboard: url,
    next,
  };
}

function printEnd(
  terminal: Terminal,
  steps: Steps,
  deliveries: Deliveries,
  { url, findings, next }: SetupResult,
): void {
  for (const { grade, part, what, remedy } of findings) {
    if (grade === 'ok') continue;
    terminal.out(`  ${paint(terminal, grade === 'broken' ? 'red' : 'yellow', grade)}  ${part}: ${what}`);
    if (remedy !== null) terminal.out(`    ${remedy}`);
  }
  const failed = steps.reports.filter(({ outcome }) => outcome === 'failed').length;
  if (failed > 0) terminal.out(`Not everything is done (see above). Repeat all steps: svc init`);
  const { what, change } = deliveryWords(deliveries);
  terminal.out(`Deliveries: ${what}\n  To change it: ${change}`);
  if (url !== null) terminal.out(`Dashboard: ${url}/`);
  terminal.out(`Next: ${next}`);
}

/** Everything was printed already; the exit code is that of the first failed step. */
function endWith(steps: Steps): void {
  const error = steps.firstError();
  if (error === undefined) return;
  const first = steps.reports.find(({ outcome }) => outcome === 'failed');
  if (!(error instanceof Failure)) throw error;
  throw new Failure(error.code, `The step ${first?.step} failed.`, first?.again ?? undefined);
}

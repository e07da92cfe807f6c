// svc findings list | drain
import { type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { createReporter } from '../../../cli/kit/report-fact.ts';
import {
  openSession,
  refuseStrayProject,
  requireConfig,
  type Session,
  warnOfStrayFolder,
} from '../../../cli/kit/session.ts';
import { isInteractive, printJson, printTable, type Terminal } from '../../../cli/kit/terminal.ts';
import { counted, plainText } from '../../../cli/kit/text.ts';
import { verb, verbGroup } from '../../../cli/kit/verb.ts';
import { Failure } from '../../../kernel/failure.ts';
import { filingConsent } from '../filing-consent.ts';
import { type Finding, severityFrom } from '../findings.ts';
import { type DrainReport, drainQueue, openDestinations, reasonsOf } from '../io/drain.ts';
import { createFindingsQueue, findingsFile, type QueueLine } from '../io/queue.ts';
import { grantConsent } from './feedback.ts';

// svc findings drain: files the findings of this folder. The orchestrator does the same at the end of its runs.

type Loaded = Awaited<ReturnType<typeof requireConfig>>;

function drainVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('drain', {
    summary: 'File each queued finding as a ticket, once',
    details: 'The queue is removed when all findings are filed.',
    example: ['svc findings drain', 'svc findings drain --dry-run', 'svc findings drain --yes'],
    route: 'POST /api/events',
  })
    .option('--yes', 'file them now without asking')
    .option('--dry-run', 'show what would be filed, and where')
    .option('--json', 'print JSON')
    .action(async (options) => {
      const session = openSession(terminal);
      const queue = createFindingsQueue({ file: await findingsFile(terminal), locks: session.locks });
      const waiting = await queue.lines();
      const print = (text: string, result: object): void =>
        options.json ? printJson(terminal, { file: queue.file, ...result }) : terminal.out(text);
      if (waiting.length === 0) return print('No findings are queued.', { filed: 0, left: 0 });
      const loaded = await requireConfig(terminal, session);
      const destinations = openDestinations({
        config: loaded.config,
        trackerApiUrl: session.machine.trackerApiUrl,
        environment: terminal.environment,
        now: () => terminal.now().getTime(),
      });
      const places = destinations.map(({ description }) => description);
      if (options.dryRun)
        return print(planned(waiting, places), { filed: 0, left: waiting.length, destinations: places });
      if (!options.yes && !(await isAllowed(terminal, session, loaded, waiting, places)))
        return print(`${counted(waiting.length, 'finding')} kept in ${queue.file}.`, {
          filed: 0,
          left: waiting.length,
        });
      const report = await drainQueue({
        queue,
        locks: session.locks,
        destinations,
        baseLabels: loaded.config.svc.feedback.labels,
        report: createReporter(terminal, session.machine),
        by: { source: 'cli', scope: {} },
        now: () => terminal.now().getTime(),
        signal: terminal.interrupted,
      });
      print(ended(report), {
        filed: report.filed,
        left: report.left,
        unreadable: report.unreadable,
        ...(report.destination && { destination: report.destination.name }),
      });
      if (report.unreadable > 0)
        terminal.err(
          `warning: ${counted(report.unreadable, 'finding')} could not be read. Fix and add them again: ${queue.file}.unreadable`,
        );
      if (report.failures.length === 0) return;
      if (report.left > 0) throw notFiled(report, queue.file);
      terminal.err(`warning: not filed at ${reasonsOf(report)}.`);
    });
}

/** With consent nothing is asked. Without it the user is asked once; without a terminal nothing is filed. */
async function isAllowed(
  terminal: Terminal,
  session: Session,
  loaded: Loaded,
  waiting: readonly QueueLine[],
  places: readonly string[],
): Promise<boolean> {
  const { config, files } = loaded;
  const consent = filingConsent(config);
  if (consent.granted) return true;
  if (consent.unconfirmed.length > 0)
    terminal.err(
      `The project file consents to filing findings without a prompt, but you have not agreed to ${consent.unconfirmed.join(' and ')}.`,
    );
  if (!isInteractive(terminal)) {
    terminal.err(
      'Findings are not filed without consent. Grant it: svc feedback consent grant, or file these now: svc findings drain --yes',
    );
    return false;
  }
  const answer = await terminal.ask(
    `File ${counted(waiting.length, 'finding')} as tickets (${places.join(', else ')}), now and at the end of each run? [y/N] `,
  );
  if (!/^y(?:es)?$/i.test(answer?.trim() ?? '')) return false;
  await refuseStrayProject(terminal, files, false);
  terminal.err(await grantConsent(session, loaded));
  return true;
}

function planned(waiting: readonly QueueLine[], places: readonly string[]): string {
  const titles = waiting.map(({ read }) => ('finding' in read ? read.finding.title : `(${read.problem})`));
  return [
    `${counted(waiting.length, 'finding')} would be filed (${places.join(', else ')}):`,
    ...titles.map((title) => `  ${plainText(title)}`),
  ].join('\n');
}

function ended({ filed, left, destination }: DrainReport): string {
  const where = destination === undefined ? '' : ` (${destination.description})`;
  return `${counted(filed, 'finding')} filed${where}${left === 0 ? '' : `, ${left} kept`}.`;
}

function notFiled(report: DrainReport, file: string): Failure {
  const remedies = report.failures.flatMap(({ remedy }) => remedy ?? []);
  return new Failure(
    'not-filed',
    `${counted(report.left, 'finding')} could not be filed and ${report.left === 1 ? 'stays' : 'stay'} in ${file}. ${reasonsOf(report)}.`,
    [...remedies, 'Then run again: svc findings drain. Nothing is filed twice.'].join('\n'),
  );
}

export function findingsVerbs(terminal: Terminal): CommandUnknownOpts {
  return verbGroup(
    'findings',
    { summary: 'List queued findings and file them as tickets', example: 'svc findings list' },
    [listVerb(terminal), drainVerb(terminal)],
  );
}

function listVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('list', {
    summary: 'List queued findings, oldest first',
    example: ['svc findings list', 'svc findings list --json'],
  })
    .option('--json', 'print JSON')
    .action(async (options) => {
      const { file, lines } = await readFindings(terminal);
      if (options.json) return printJson(terminal, { file, findings: lines.map(shownFinding) });
      if (lines.length === 0) return terminal.out(`No findings are queued (${file})`);
      printTable(terminal, lines.map(findingRow));
    });
}

/** The queue of the current folder. */
export async function readFindings(terminal: Terminal): Promise<{ file: string; lines: QueueLine[] }> {
  const { locks } = openSession(terminal);
  const queue = createFindingsQueue({ file: await findingsFile(terminal), locks });
  return { file: queue.file, lines: await queue.lines() };
}

export function shownFinding({ key, text, read }: QueueLine): object {
  return 'finding' in read ? { key, ...read.finding } : { key, unreadable: read.problem, text };
}

export function findingRow({ text, read }: QueueLine): string[] {
  if ('problem' in read)
    return ['?', '', '', `unreadable (${read.problem}): ${plainText(text.slice(0, 60))}`];
  const { ts, severity, skill, title } = read.finding;
  return [ts, severity, plainText(skill), plainText(title)];
}

// svc add-finding. Needs neither the daemon nor a configuration.

export function addFindingVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('add-finding', {
    summary: 'Queue a finding; it becomes a ticket when the run ends',
    example: [
      'svc add-finding --title "The plan names a missing file" --body "src/old.ts"',
      'svc add-finding --title "Slow tests" --severity high --body - < text',
    ],
    route: 'POST /api/events',
  })
    .requiredOption('--title <text>', 'one line')
    .requiredOption('--body <text>', 'what you found, or - for standard input')
    .option('--skill <name>', 'skill that found it; becomes a label', '')
    .option('--severity <severity>', 'low, medium (med) or high', 'low')
    .addOption(
      new Option('--tag <tag>', 'tag to find it by; repeatable')
        .default([] as string[])
        .argParser((tag: string, tags: string[]) => [...tags, tag]),
    )
    .option('--json', 'print JSON')
    .action(async (options) => {
      const severity = severityFrom(options.severity);
      if (severity === undefined)
        throw new Failure('usage', `--severity: expected low, medium or high, found ${options.severity}.`);
      if (options.title.trim() === '') throw new Failure('usage', '--title: expected text, found nothing.');
      const file = await addFinding(terminal, {
        skill: options.skill,
        title: options.title.trim(),
        body: options.body === '-' ? await terminal.readInput() : options.body,
        severity,
        tags: options.tag,
      });
      if (options.json) printJson(terminal, { ok: true, file });
      else terminal.out(`The finding was added to ${file}`);
    });
}

/** Adds it to the queue and reports it to the daemon; returns the queue's file. */
export async function addFinding(
  terminal: Terminal,
  given: Pick<Finding, 'title' | 'body' | 'skill' | 'severity' | 'tags'>,
): Promise<string> {
  const { machine, locks } = openSession(terminal);
  const file = await findingsFile(terminal);
  await warnOfStrayFolder(terminal, file);
  const queue = createFindingsQueue({ file, locks });
  await queue.append({ ts: terminal.now().toISOString(), ...given });
  const { title, severity, skill, tags } = given;
  const report = createReporter(terminal, machine);
  await report({
    event: 'feedback.finding_added',
    source: 'cli',
    via: 'local',
    scope: {},
    detail: { title, severity, skill, tags },
  });
  return queue.file;
}

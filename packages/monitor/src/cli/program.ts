// The whole command line. A verb is one file in verbs/, and one entry in a group here.
import { type CommandUnknownOpts, createCommand, type Option } from '@commander-js/extra-typings';
import { ticketWritten } from '@svc/core';
import { loadProjects } from '../config/projects.ts';
import { Failure } from '../errors.ts';
import { defaultText } from './describe-program.ts';
import { openSession } from './session.ts';
import type { Terminal } from './terminal.ts';
import { agentVerbs } from './verbs/agent.ts';
import { agentsVerbs } from './verbs/agents.ts';
import { archiveVerbs } from './verbs/archive.ts';
import { attentionVerbs } from './verbs/attention.ts';
import { boardVerb } from './verbs/board.ts';
import { briefingVerb } from './verbs/briefing.ts';
import { checkProjectSetupVerb } from './verbs/check-project-setup.ts';
import { completionVerb } from './verbs/completion.ts';
import { configVerbs } from './verbs/config.ts';
import { contextVerbs } from './verbs/context.ts';
import { demoVerb } from './verbs/demo.ts';
import { deployVerbs } from './verbs/deploy.ts';
import { doctorVerb } from './verbs/doctor.ts';
import { eventsVerbs } from './verbs/events.ts';
import { feedbackVerbs } from './verbs/feedback.ts';
import { feedsVerb } from './verbs/feeds.ts';
import { addFindingVerb, findingsVerbs } from './verbs/findings.ts';
import { hooksVerbs } from './verbs/hooks.ts';
import { initVerb } from './verbs/init.ts';
import { mcpVerb } from './verbs/mcp.ts';
import { monitorVerbs } from './verbs/monitor.ts';
import { openVerb } from './verbs/open.ts';
import { orchestrateVerbs } from './verbs/orchestrate.ts';
import { outboxVerbs } from './verbs/outbox.ts';
import { resolveTrackerIdsVerb } from './verbs/resolve-tracker-ids.ts';
import { retentionVerb } from './verbs/retention.ts';
import { rulesVerbs } from './verbs/rules.ts';
import { runVerb } from './verbs/run.ts';
import { setupWebhooksVerb } from './verbs/setup-webhooks.ts';
import { skillsVerbs } from './verbs/skills.ts';
import { summarizeVerb } from './verbs/summarize.ts';
import { teamVerbs } from './verbs/team.ts';
import { telemetryVerbs } from './verbs/telemetry.ts';
import { ticketVerbs } from './verbs/ticket.ts';
import { traceVerb } from './verbs/trace.ts';
import { uninstallVerb } from './verbs/uninstall.ts';
import { receiptVerb, whyVerb } from './verbs/why.ts';
import { workerVerbs } from './verbs/worker.ts';
import { worktreeVerbs } from './verbs/worktree.ts';
import { VERSION } from './version.ts';

type MakeVerb = (terminal: Terminal) => CommandUnknownOpts;

/** The groups of the root help, and the verbs of each by their names. */
const groups: Readonly<Record<string, Readonly<Record<string, MakeVerb>>>> = {
  'Start:': {
    demo: demoVerb,
    init: initVerb,
    monitor: monitorVerbs,
    open: openVerb,
  },
  'Look:': {
    board: boardVerb,
    why: whyVerb,
    receipt: receiptVerb,
    trace: traceVerb,
    worker: workerVerbs,
    events: eventsVerbs,
    summarize: summarizeVerb,
    briefing: briefingVerb,
  },
  'Act:': {
    attention: attentionVerbs,
    agent: agentVerbs,
    deploy: deployVerbs,
    ticket: ticketVerbs,
    'add-finding': addFindingVerb,
    findings: findingsVerbs,
    feedback: feedbackVerbs,
  },
  'Run agents:': {
    run: runVerb,
    orchestrate: orchestrateVerbs,
    agents: agentsVerbs,
    skills: skillsVerbs,
    hooks: hooksVerbs,
    worktree: worktreeVerbs,
    context: contextVerbs,
    mcp: mcpVerb,
  },
  'Configure:': {
    config: configVerbs,
    rules: rulesVerbs,
    'setup-webhooks': setupWebhooksVerb,
    team: teamVerbs,
    'resolve-tracker-ids': resolveTrackerIdsVerb,
    'check-project-setup': checkProjectSetupVerb,
    completion: completionVerb,
  },
  'Maintain:': {
    doctor: doctorVerb,
    feeds: feedsVerb,
    outbox: outboxVerbs,
    archive: archiveVerbs,
    retention: retentionVerb,
    telemetry: telemetryVerbs,
    uninstall: uninstallVerb,
  },
};

/** With `asked`, the name of a verb, without the other verbs: building all of them takes a tenth of a command's time. */
export function buildProgram(terminal: Terminal, asked?: string): CommandUnknownOpts {
  const program = createCommand('svc')
    .description('Monitor coding agents, pull requests, deploys and tickets.')
    .version(VERSION, '-V, --version', 'show the version')
    .addHelpText(
      'after',
      '\nExit codes: 0 ok, 1 the answer is no, 2 usage; see docs/reference/exit-codes.md',
    );
  const isKnown = Object.values(groups).some((verbs) => asked !== undefined && Object.hasOwn(verbs, asked));
  for (const [heading, verbs] of Object.entries(groups)) {
    program.commandsGroup(heading);
    for (const [name, make] of Object.entries(verbs))
      if (!isKnown || name === asked) program.addCommand(make(terminal));
  }
  program.commandsGroup('Start:'); // `help` goes there
  prepare(program, terminal);
  program.hook('preAction', (_, command) => writeTickets(command, terminal));
  return program;
}

const isIssue = (word: unknown): word is string => typeof word === 'string' && /^#|^https?:/.test(word);

/** A ticket may also be given as `#12` or by the address of its issue, to every verb that takes tickets. */
async function writeTickets(command: CommandUnknownOpts, terminal: Terminal): Promise<void> {
  const places = command.registeredArguments.flatMap((argument, index) =>
    /^tickets?$/.test(argument.name()) ? [index] : [],
  );
  if (!places.some((index) => [command.processedArgs[index]].flat().some(isIssue))) return;
  const { machine } = openSession(terminal);
  const { configs, started } = await loadProjects(machine, terminal.environment, terminal.folder);
  const written = (word: unknown): unknown => {
    if (!isIssue(word)) return word;
    const ticket = ticketWritten(word, [started.usable]) ?? ticketWritten(word, configs);
    if (ticket !== undefined) return ticket;
    throw new Failure(
      'usage',
      `${word.slice(0, 200)} is not an issue of a project whose tickets are issues.`,
      'Name the ticket, such as GH-12, or run this in its project.',
    );
  };
  for (const index of places) {
    const given: unknown = command.processedArgs[index];
    command.processedArgs[index] = Array.isArray(given) ? given.map(written) : written(given);
  }
}

/** Commander would also show empty defaults, and quote texts. */
function optionDescription(option: Option): string {
  const { description, argChoices: choices } = option;
  const value = option.required || option.optional ? defaultText(option) : null;
  const notes = [choices ? [choices.join(', ')] : [], value === null ? [] : [`default: ${value}`]].flat();
  return notes.length === 0 ? description : `${description} (${notes.join('; ')})`;
}

/** What is meant by words that other programs use; commander only finds misspellings. */
const meantBy: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  svc: { status: 'svc monitor status', start: 'svc monitor start', stop: 'svc monitor stop' },
  config: { get: 'svc config show, or svc config explain <key>', check: 'svc config validate' },
};

function withMeant(text: string, command: CommandUnknownOpts): string {
  const [, word = ''] = /unknown command '([^']+)'/.exec(text) ?? [];
  const meant = meantBy[command.name()]?.[word];
  if (meant === undefined) return text;
  return `${text.replace(/\n\(Did you mean .*\)/, '').trimEnd()}\n(Did you mean ${meant}?)\n`;
}

/** Commander keeps these per command: no process exit from inside, output through the terminal. */
function prepare(command: CommandUnknownOpts, terminal: Terminal): void {
  // An option behind a verb belongs to that verb, even when the group above has one of the same name.
  command.enablePositionalOptions();
  command.exitOverride().showHelpAfterError('(add --help for the options and an example)');
  command.helpOption('-h, --help', 'show this help');
  if (command.commands.length > 0) command.helpCommand('help [command]', 'Show help for a command');
  // In a list the name and the summary are enough: arguments are in the usage line of each verb.
  command.configureHelp({ subcommandTerm: (child) => child.name(), optionDescription });
  command.configureOutput({
    writeOut: (text) => terminal.out(text.trimEnd()),
    writeErr: (text) => terminal.err(text.trimEnd()),
    outputError: (text, write) => write(withMeant(text, command)),
    getOutHasColors: () => terminal.colour,
    getErrHasColors: () => terminal.colour,
  });
  for (const child of command.commands) prepare(child, terminal);
}

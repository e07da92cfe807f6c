// The whole command line. A verb is one file in verbs/, and one entry in a group here. Nothing of a verb is loaded before it is
// asked for.
import { type CommandUnknownOpts, createCommand, type Option } from '@commander-js/extra-typings';
import { defaultText } from './describe-program.ts';
import { HELP_COLUMNS } from './recorded-help.ts';
import type { Terminal } from './terminal.ts';
import { VERSION } from './version.ts';

type MakeVerb = (terminal: Terminal) => CommandUnknownOpts;

/** The groups of the root help, and the verbs of each by their names. Only what is asked for is loaded. */
const groups: Readonly<Record<string, Readonly<Record<string, () => Promise<MakeVerb>>>>> = {
  'Start:': {
    demo: async () => (await import('./verbs/demo.ts')).demoVerb,
    init: async () => (await import('./verbs/init.ts')).initVerb,
    monitor: async () => (await import('./verbs/monitor.ts')).monitorVerbs,
    open: async () => (await import('./verbs/open.ts')).openVerb,
  },
  'Look:': {
    board: async () => (await import('./verbs/board.ts')).boardVerb,
    why: async () => (await import('./verbs/why.ts')).whyVerb,
    receipt: async () => (await import('./verbs/why.ts')).receiptVerb,
    trace: async () => (await import('./verbs/trace.ts')).traceVerb,
    worker: async () => (await import('./verbs/worker.ts')).workerVerbs,
    events: async () => (await import('./verbs/events.ts')).eventsVerbs,
    summarize: async () => (await import('./verbs/summarize.ts')).summarizeVerb,
    briefing: async () => (await import('./verbs/briefing.ts')).briefingVerb,
  },
  'Act:': {
    attention: async () => (await import('./verbs/attention.ts')).attentionVerbs,
    agent: async () => (await import('./verbs/agent.ts')).agentVerbs,
    deploy: async () => (await import('./verbs/deploy.ts')).deployVerbs,
    ticket: async () => (await import('./verbs/ticket.ts')).ticketVerbs,
    'add-finding': async () => (await import('./verbs/findings.ts')).addFindingVerb,
    findings: async () => (await import('./verbs/findings.ts')).findingsVerbs,
    feedback: async () => (await import('./verbs/feedback.ts')).feedbackVerbs,
  },
  'Run agents:': {
    run: async () => (await import('./verbs/run.ts')).runVerb,
    orchestrate: async () => (await import('./verbs/orchestrate.ts')).orchestrateVerbs,
    agents: async () => (await import('./verbs/agents.ts')).agentsVerbs,
    skills: async () => (await import('./verbs/skills.ts')).skillsVerbs,
    hooks: async () => (await import('./verbs/hooks.ts')).hooksVerbs,
    worktree: async () => (await import('./verbs/worktree.ts')).worktreeVerbs,
    context: async () => (await import('./verbs/context.ts')).contextVerbs,
    mcp: async () => (await import('./verbs/mcp.ts')).mcpVerb,
  },
  'Configure:': {
    config: async () => (await import('./verbs/config.ts')).configVerbs,
    rules: async () => (await import('./verbs/rules.ts')).rulesVerbs,
    'setup-webhooks': async () => (await import('./verbs/setup-webhooks.ts')).setupWebhooksVerb,
    team: async () => (await import('./verbs/team.ts')).teamVerbs,
    'resolve-tracker-ids': async () => (await import('./verbs/resolve-tracker-ids.ts')).resolveTrackerIdsVerb,
    'check-project-setup': async () => (await import('./verbs/check-project-setup.ts')).checkProjectSetupVerb,
    completion: async () => (await import('./verbs/completion.ts')).completionVerb,
  },
  'Maintain:': {
    doctor: async () => (await import('./verbs/doctor.ts')).doctorVerb,
    feeds: async () => (await import('./verbs/feeds.ts')).feedsVerb,
    outbox: async () => (await import('./verbs/outbox.ts')).outboxVerbs,
    archive: async () => (await import('./verbs/archive.ts')).archiveVerbs,
    retention: async () => (await import('./verbs/retention.ts')).retentionVerb,
    telemetry: async () => (await import('./verbs/telemetry.ts')).telemetryVerbs,
    uninstall: async () => (await import('./verbs/uninstall.ts')).uninstallVerb,
  },
};

/** With `asked`, the name of a verb, without the other verbs. */
export async function buildProgram(terminal: Terminal, asked?: string): Promise<CommandUnknownOpts> {
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
    for (const [name, load] of Object.entries(verbs))
      if (!isKnown || name === asked) program.addCommand((await load())(terminal));
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
  const { ticketsOfIssues } = await import('./issue-tickets.ts');
  const ticketOf = await ticketsOfIssues(terminal);
  const written = (word: unknown): unknown => (isIssue(word) ? ticketOf(word) : word);
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
    getOutHelpWidth: () => Math.min(HELP_COLUMNS, terminal.columns),
    getErrHelpWidth: () => Math.min(HELP_COLUMNS, terminal.columns),
    getOutHasColors: () => terminal.colour,
    getErrHasColors: () => terminal.colour,
  });
  for (const child of command.commands) prepare(child, terminal);
}

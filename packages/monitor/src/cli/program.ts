// The whole command line. A verb is one file in verbs/; it is added here by one line.
import { type CommandUnknownOpts, createCommand } from '@commander-js/extra-typings';
import type { Terminal } from './terminal.ts';
import { addFindingVerb } from './verbs/add-finding.ts';
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
import { findingsVerbs } from './verbs/findings.ts';
import { initVerb } from './verbs/init.ts';
import { mcpVerb } from './verbs/mcp.ts';
import { monitorVerbs } from './verbs/monitor.ts';
import { openVerb } from './verbs/open.ts';
import { orchestrateVerbs } from './verbs/orchestrate.ts';
import { outboxVerbs } from './verbs/outbox.ts';
import { receiptVerb } from './verbs/receipt.ts';
import { resolveTrackerIdsVerb } from './verbs/resolve-tracker-ids.ts';
import { rulesVerbs } from './verbs/rules.ts';
import { setupWebhooksVerb } from './verbs/setup-webhooks.ts';
import { summarizeVerb } from './verbs/summarize.ts';
import { telemetryVerbs } from './verbs/telemetry.ts';
import { ticketVerbs } from './verbs/ticket.ts';
import { traceVerb } from './verbs/trace.ts';
import { whyVerb } from './verbs/why.ts';
import { workerVerbs } from './verbs/worker.ts';
import { worktreeVerbs } from './verbs/worktree.ts';
import { VERSION } from './version.ts';

export function buildProgram(terminal: Terminal): CommandUnknownOpts {
  const program = createCommand('svc')
    .description('What every coding agent, pull request, deploy and ticket is doing, live and true.')
    .version(VERSION)
    .addHelpText(
      'after',
      '\nExit codes: 0 ok, 1 the answer is no, 2 usage; the others: docs/reference/exit-codes.md',
    )
    .addCommand(demoVerb(terminal))
    .addCommand(initVerb(terminal))
    .addCommand(monitorVerbs(terminal))
    .addCommand(doctorVerb(terminal))
    .addCommand(openVerb(terminal))
    .addCommand(boardVerb(terminal))
    .addCommand(attentionVerbs(terminal))
    .addCommand(whyVerb(terminal))
    .addCommand(receiptVerb(terminal))
    .addCommand(traceVerb(terminal))
    .addCommand(workerVerbs(terminal))
    .addCommand(deployVerbs(terminal))
    .addCommand(summarizeVerb(terminal))
    .addCommand(briefingVerb(terminal))
    .addCommand(outboxVerbs(terminal))
    .addCommand(rulesVerbs(terminal))
    .addCommand(orchestrateVerbs(terminal))
    .addCommand(worktreeVerbs(terminal))
    .addCommand(configVerbs(terminal))
    .addCommand(eventsVerbs(terminal))
    .addCommand(feedsVerb(terminal))
    .addCommand(ticketVerbs(terminal))
    .addCommand(contextVerbs(terminal))
    .addCommand(telemetryVerbs(terminal))
    .addCommand(addFindingVerb(terminal))
    .addCommand(findingsVerbs(terminal))
    .addCommand(feedbackVerbs(terminal))
    .addCommand(archiveVerbs(terminal))
    .addCommand(mcpVerb(terminal))
    .addCommand(checkProjectSetupVerb(terminal))
    .addCommand(setupWebhooksVerb(terminal))
    .addCommand(resolveTrackerIdsVerb(terminal))
    .addCommand(completionVerb(terminal));
  prepare(program, terminal);
  return program;
}

/** Commander keeps these per command: no process exit from inside, output through the terminal. */
function prepare(command: CommandUnknownOpts, terminal: Terminal): void {
  // An option behind a verb is that verb's, also when the group above has one of the same name.
  command.enablePositionalOptions();
  command.exitOverride().showHelpAfterError('(add --help for the options and an example)');
  command.configureOutput({
    writeOut: (text) => terminal.out(text.trimEnd()),
    writeErr: (text) => terminal.err(text.trimEnd()),
    getOutHasColors: () => terminal.colour,
    getErrHasColors: () => terminal.colour,
  });
  for (const child of command.commands) prepare(child, terminal);
}

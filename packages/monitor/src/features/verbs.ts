// Every verb of the command line, by the groups of the root help. Nothing of a verb is loaded before it is asked for.
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Terminal } from '../cli/kit/terminal.ts';

type MakeVerb = (terminal: Terminal) => CommandUnknownOpts;

/** The groups of the root help, and the verbs of each by their names. Only what is asked for is loaded. */
export const verbGroups: Readonly<Record<string, Readonly<Record<string, () => Promise<MakeVerb>>>>> = {
  'Start:': {
    demo: async () => (await import('./demo/verbs.ts')).demoVerb,
    init: async () => (await import('./init/verbs/init.ts')).initVerb,
    monitor: async () => {
      const { createDoctorReports } = await import('./doctor/checks/doctor.ts');
      const { monitorVerbs } = await import('./monitor/verbs/monitor.ts');
      return (terminal) => monitorVerbs(terminal, createDoctorReports);
    },
    open: async () => (await import('./monitor/verbs/open.ts')).openVerb,
  },
  'Look:': {
    board: async () => (await import('./board/verbs/board.ts')).boardVerb,
    why: async () => (await import('./why/verbs.ts')).whyVerb,
    receipt: async () => (await import('./why/verbs.ts')).receiptVerb,
    trace: async () => (await import('./trace/verbs.ts')).traceVerb,
    worker: async () => (await import('./agents/verbs/worker.ts')).workerVerbs,
    events: async () => (await import('./events/verbs/events.ts')).eventsVerbs,
    summarize: async () => (await import('./summaries/verbs/summarize.ts')).summarizeVerb,
    briefing: async () => (await import('./summaries/verbs/briefing.ts')).briefingVerb,
  },
  'Act:': {
    attention: async () => (await import('./attention/verbs.ts')).attentionVerbs,
    agent: async () => (await import('./agents/verbs/agent.ts')).agentVerbs,
    deploy: async () => {
      const [{ deployVerbs }, { printWhy }] = await Promise.all([
        import('./deploy/verbs.ts'),
        import('./why/verbs.ts'),
      ]);
      return (terminal) => deployVerbs(terminal, printWhy);
    },
    ticket: async () => (await import('./tracker/verbs/ticket.ts')).ticketVerbs,
    'add-finding': async () => (await import('./findings/verbs/findings.ts')).addFindingVerb,
    findings: async () => (await import('./findings/verbs/findings.ts')).findingsVerbs,
    feedback: async () => (await import('./findings/verbs/feedback.ts')).feedbackVerbs,
  },
  'Run agents:': {
    run: async () => (await import('./tasks/verbs.ts')).runVerb,
    orchestrate: async () => (await import('./runs/verbs/orchestrate.ts')).orchestrateVerbs,
    agents: async () => (await import('./runs/verbs/agents.ts')).agentsVerbs,
    skills: async () => (await import('./skills/verbs.ts')).skillsVerbs,
    hooks: async () => (await import('./sessions/verbs.ts')).hooksVerbs,
    worktree: async () => (await import('./worktrees/verbs/worktree.ts')).worktreeVerbs,
    context: async () => (await import('./context/verbs.ts')).contextVerbs,
    mcp: async () => (await import('./mcp/verbs/mcp.ts')).mcpVerb,
  },
  'Configure:': {
    config: async () => (await import('./configuration/verbs/config.ts')).configVerbs,
    rules: async () => (await import('./rules/verbs.ts')).rulesVerbs,
    'setup-webhooks': async () => (await import('./setup/verbs/setup-webhooks.ts')).setupWebhooksVerb,
    team: async () => (await import('./team/verbs/team.ts')).teamVerbs,
    'resolve-tracker-ids': async () =>
      (await import('./tracker/verbs/resolve-tracker-ids.ts')).resolveTrackerIdsVerb,
    'check-project-setup': async () =>
      (await import('./setup/verbs/check-project-setup.ts')).checkProjectSetupVerb,
    completion: async () => (await import('../cli/completion/verb.ts')).completionVerb,
  },
  'Maintain:': {
    doctor: async () => (await import('./doctor/verbs.ts')).doctorVerb,
    feeds: async () => (await import('./feeds/verbs.ts')).feedsVerb,
    outbox: async () => (await import('./outbox/verbs.ts')).outboxVerbs,
    archive: async () => (await import('./archive/verbs/archive.ts')).archiveVerbs,
    retention: async () => (await import('./retention/verbs.ts')).retentionVerb,
    telemetry: async () => (await import('./otel/verbs.ts')).telemetryVerbs,
    uninstall: async () => (await import('./uninstall/verbs/uninstall.ts')).uninstallVerb,
  },
};

export const loadTicketsOfIssues = async () =>
  (await import('./tracker/verbs/issue-tickets.ts')).ticketsOfIssues;

// Mutations of the tracker: phases and states, and the eight rules of its webhook.
import type { Mutation } from '../mutation.ts';

export const tracker: readonly Mutation[] = [
  {
    row: 'MAP-1',
    file: 'packages/core/src/tracker/ticket-phase.ts',
    find: 'const name = tracker.stateMap[phase];',
    replace: "const name = tracker.stateMap[phase] ?? 'Done';",
  },
  {
    row: 'TKT-1',
    test: 'packages/core/src/state/board.test.ts › a phase moves the ticket',
    file: 'packages/core/src/state/fold-tickets.ts',
    find: "line.event === 'workflow.ticket.phase_changed' ? phaseAt(line, 'to') : undefined;",
    replace: "line.event === 'workflow.ticket.state_moved' ? phaseAt(line, 'to') : undefined;",
  },
  {
    row: 'TKT-4',
    test: "packages/core/src/tracker/ticket-phase.test.ts › ['describe-pr', 'inReview']",
    named: 'by the skill describe-pr: inReview',
    file: 'packages/core/src/tracker/ticket-phase.ts',
    find: "'describe-pr': 'inReview',",
    replace: "'describe-pr': 'done',",
  },
  {
    row: 'CFG-20',
    test: 'packages/monitor/src/tracker/move-ticket.test.ts › a transition takes two with the cache and three without, which then remembers',
    file: 'packages/monitor/src/tracker/move-ticket.ts',
    find: 'const remembered = afresh ? undefined : stateNamed(statesOfTeam.get(team.id) ?? [], wanted.name);',
    replace: 'const remembered = stateNamed([], wanted.name) ?? (afresh ? undefined : undefined);',
  },
  {
    row: 'IDS-1',
    file: 'packages/monitor/src/tracker/resolve-ids.ts',
    find: "{ path: [...group, 'stateIds'], value: ids },",
    replace: '',
  },
  {
    row: 'REG-2',
    file: 'packages/monitor/src/tracker/register-webhook.ts',
    find: 'const { teamId } = config.svc.tracker;\n  if (teamId === null) {',
    replace: "const teamId = config.svc.tracker.teamId ?? '';\n  if (teamId === 'none') {",
  },
  {
    row: 'REG-6',
    file: 'packages/core/src/tracker/registration.ts',
    find: 'if (record && !force) {',
    replace: 'if (record && !force && existing !== undefined) {',
  },
  {
    row: 'REG-7',
    file: 'packages/core/src/tracker/registration.ts',
    find: ": { step: 'refuse', recordedUrl: webhookUrl };",
    replace: ": { step: 'remove-recorded', webhookId };",
  },
  {
    row: 'REG-8',
    file: 'packages/monitor/src/tracker/register-webhook.ts',
    find: 'const wasThere = await client.deleteWebhook(next.webhookId);',
    replace: 'const wasThere = await Promise.resolve(true);',
  },
  {
    row: 'REG-9',
    file: 'packages/core/src/tracker/registration.ts',
    find: 'return one?.toLowerCase() === other.toLowerCase();',
    replace: 'return one === other;',
  },
  {
    row: 'REG-10',
    file: 'packages/monitor/src/tracker/register-webhook.ts',
    find: 'await writeRecord(store, { webhookId: webhook.id, webhookUrl, registeredAt });',
    replace:
      'await writeRecord(store, { webhookId: webhook.id, webhookUrl, registeredAt, resourceTypes: trackerResourceTypes });',
  },
  {
    row: 'REG-12',
    file: 'packages/core/src/tracker/registration.ts',
    find: "  'Project',\n",
    replace: '',
  },
  {
    row: 'REG-14',
    file: 'packages/monitor/src/disk/secret-file.ts',
    find: '{ mode: 0o600, folderMode: 0o700 }',
    replace: '{ mode: 0o644, folderMode: 0o700 }',
  },
  {
    row: 'LIM-3',
    file: 'packages/monitor/src/feeds/tracker-poll.ts',
    find: 'const POLL_EVERY_MS = 300_000;',
    replace: 'const POLL_EVERY_MS = 30_000;',
  },
  {
    row: 'MAP-3',
    file: 'packages/core/src/config/schema/project.ts',
    find: "stateName('State of a new ticket', 'Backlog')",
    replace: "stateName('State of a new ticket', 'Triage')",
  },
];

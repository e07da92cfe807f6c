// svc telemetry attributes
import { hostname } from 'node:os';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { formatAttributes, resourceAttributes } from '@svc/core';
import { createContextStore } from '../../context/context-store.ts';
import { gitBranch } from '../../context/git-branch.ts';
import { worktreeRoot } from '../../context/worktree-root.ts';
import { openSession, requireConfig } from '../session.ts';
import { printJson, type Terminal } from '../terminal.ts';
import { verb, verbGroup } from '../verb.ts';

export function telemetryVerbs(terminal: Terminal): CommandUnknownOpts {
  return verbGroup(
    'telemetry',
    {
      summary: 'What sessions say of themselves in telemetry',
      example: 'export OTEL_RESOURCE_ATTRIBUTES=$(svc telemetry attributes)',
    },
    [attributesVerb(terminal)],
  );
}

function attributesVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('attributes', {
    summary: 'The value of OTEL_RESOURCE_ATTRIBUTES for this folder: project, host, branch, ticket, run',
    example: [
      'svc telemetry attributes --project web',
      'export OTEL_RESOURCE_ATTRIBUTES=$(svc telemetry attributes)',
    ],
  })
    .option('--project <name>', 'the project (default: its name or key in the configuration)')
    .option('--json', 'print JSON')
    .action(async (options) => {
      const session = openSession(terminal);
      const root = worktreeRoot(terminal.folder);
      const { svc } = (await requireConfig(terminal, session)).config;
      const context = await createContextStore({ root, locks: session.locks, now: terminal.now }).read();
      const attributes = resourceAttributes({
        project: options.project ?? svc.project.name ?? svc.projectKey ?? null,
        hostname: hostname(),
        branch: gitBranch(root),
        ticket: context?.currentTicket ?? null,
        ticketPrefixes: [svc.project.ticketPrefix ?? svc.tracker.teamKey ?? []].flat(),
        orchestration: context?.orchestration ?? null,
      });
      if (options.json) return printJson(terminal, attributes);
      terminal.out(formatAttributes(attributes));
    });
}

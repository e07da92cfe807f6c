// svc telemetry attributes | cost | figures
import { hostname } from 'node:os';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { needDaemon } from '../../cli/kit/daemon.ts';
import { routeVerb } from '../../cli/kit/route-verb.ts';
import { openSession, requireConfig } from '../../cli/kit/session.ts';
import { printJson, printTable, type Terminal } from '../../cli/kit/terminal.ts';
import { plainText, timeText } from '../../cli/kit/text.ts';
import { verb, verbGroup } from '../../cli/kit/verb.ts';
import { gitBranch, worktreeRoot } from '../../kernel/disk/git-folder.ts';
import type { RecentTimes } from '../../kernel/telemetry/recent-times.ts';
import { formatAttributes, resourceAttributes } from '../agents/agent-environment.ts';
import { costSummary, costText } from '../agents/cost.ts';
import { pricesAsOf } from '../agents/prices.ts';
import { createContextStore } from '../context/io/context-store.ts';
import { ticketPrefixOf } from '../tracker/tracker-of.ts';
import { workerText } from '../workers/worker-label.ts';

export function telemetryVerbs(terminal: Terminal): CommandUnknownOpts {
  return verbGroup(
    'telemetry',
    {
      summary: 'Show resource attributes, cost and performance figures',
      example: 'export OTEL_RESOURCE_ATTRIBUTES=$(svc telemetry attributes)',
    },
    [attributesVerb(terminal), costVerb(terminal), figuresVerb(terminal)],
  );
}

function attributesVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('attributes', {
    summary: 'Print OTEL_RESOURCE_ATTRIBUTES for this folder',
    details: 'The value has the project, host, branch, ticket and run.',
    example: [
      'svc telemetry attributes --project web',
      'export OTEL_RESOURCE_ATTRIBUTES=$(svc telemetry attributes)',
    ],
  })
    .option('--project <name>', 'project (default: its name or key in the configuration)')
    .option('--json', 'print JSON')
    .action(async (options) => {
      const session = openSession(terminal);
      const root = await worktreeRoot(terminal.folder);
      const { config } = await requireConfig(terminal, session);
      const { svc } = config;
      const context = await createContextStore({ root, locks: session.locks, now: terminal.now }).read();
      const attributes = resourceAttributes({
        project: options.project ?? svc.project.name ?? svc.projectKey ?? null,
        hostname: hostname(),
        branch: await gitBranch(root),
        ticket: context?.currentTicket ?? null,
        ticketPrefixes: [ticketPrefixOf(config) ?? []].flat(),
        orchestration: context?.orchestration ?? null,
      });
      if (options.json) return printJson(terminal, attributes);
      terminal.out(formatAttributes(attributes));
    });
}

function costVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('cost', {
    summary: 'Show the cost per ticket and per shipped ticket',
    details: 'An estimate from tokens and list prices has the mark ≈. Unknown costs are not counted.',
    example: ['svc telemetry cost', 'svc telemetry cost --run july'],
    route: 'GET /api/board',
  })
    .option('--run <run>', 'only this run')
    .option('--json', 'print JSON')
    .action(async ({ run, json }) => {
      const board = await (await needDaemon(terminal)).get('/api/board');
      const workers = board.workers.filter(({ orchestrator }) => run === undefined || orchestrator === run);
      const pullRequests = new Map(board.pullRequests.map((pullRequest) => [pullRequest.key, pullRequest]));
      const summary = costSummary(workers);
      const tickets = workers.map(({ orchestrator, ticket, status, cost }) => ({
        orchestrator,
        ticket,
        status,
        cost,
      }));
      if (json) return printJson(terminal, { ...summary, byTicket: tickets });
      if (tickets.length === 0)
        return terminal.out(
          run === undefined
            ? 'There are no tickets yet. Start a run: svc orchestrate start <ticket>'
            : `There are no tickets of the run ${plainText(run)}. See all: svc telemetry cost`,
        );
      printTable(
        terminal,
        workers.map((worker) => [
          plainText(worker.ticket),
          plainText(worker.orchestrator),
          plainText(workerText(worker, pullRequests.get(worker.pullRequestKey ?? '') ?? null)),
          costText(worker.cost),
        ]),
      );
      printTable(terminal, [
        ['total', costText(summary.total)],
        ['per ticket', costText(summary.perTicket)],
        [`per shipped ticket (${summary.shipped})`, costText(summary.perShipped)],
        ['prices as of', pricesAsOf],
      ]);
    });
}

const figuresVerb = routeVerb('figures', 'GET /api/figures', {
  summary: 'Show API calls, quotas and delivery times',
  example: 'svc telemetry figures',
  print: (terminal, { since, codehost, tracker, deliveries, commits, lines }) => {
    const now = terminal.now();
    printTable(terminal, [
      ['since', timeText(since, now)],
      ['code host', `${codehost.calls} calls, ${codehost.avoided} avoided`],
      ['last hour', `${codehost.callsInLastHour} of ${codehost.callsPerHour} calls`],
      ...Object.entries(codehost.quotas).map(([resource, { remaining, limit, resetsAt }]) => [
        `quota ${resource}`,
        `${remaining} of ${limit} left, until ${timeText(resetsAt, now)}`,
      ]),
      ['tracker', `${tracker.poll} calls for polling, ${tracker.move} for moving tickets`],
      ['deliveries', recentText(deliveries)],
      ['commits', recentText(commits)],
      ['events', String(lines)],
    ]);
  },
});

function recentText({ count, sampled, p50Ms, p99Ms }: RecentTimes): string {
  return p50Ms === null ? `${count}` : `${count}; of the last ${sampled}: p50 ${p50Ms} ms, p99 ${p99Ms} ms`;
}

// board: what each worker is doing and waiting for, in short.
import type { Worker } from '@svc/client';
import { z } from 'zod';
import { needDaemon } from '../../cli/kit/daemon.ts';
import { counted, plainText } from '../../cli/kit/text.ts';
import { readOnly, tool } from '../../cli/kit/tool.ts';
import { workerText } from '../workers/worker-label.ts';

const MOST_WORKERS = 200;

export const boardTool = tool({
  name: 'board',
  title: 'What every agent is doing',
  description:
    'The agents of all runs, or of one run or ticket: status, pull request, what each is waiting for and until when, and why it needs a person (needs). `at` shows a past time. For one ticket in depth use why.',
  scope: 'read',
  hints: readOnly,
  input: z.strictObject({
    run: z.string().min(1).max(120).optional().describe('only agents of this run'),
    ticket: z.string().min(1).max(120).optional().describe('only agents of this ticket, like ABC-12'),
    at: z.string().min(1).max(40).optional().describe('past time: a seq, an ISO time, or an age like 2h'),
    all: z.boolean().optional().describe('include what settled more than a week ago'),
  }),
  output: z.looseObject({
    seq: z.number(),
    at: z.string().nullable(),
    workers: z.array(
      z.looseObject({
        ticket: z.string(),
        run: z.string(),
        status: z.string(),
        pullRequest: z.string().nullable(),
        waitsFor: z.string().nullable(),
        needs: z.array(z.string()),
      }),
    ),
    leftOut: z.number(),
    attention: z.number(),
  }),
  async call({ run, ticket, at, all }, { terminal }) {
    const daemon = await needDaemon(terminal);
    const query = { at, ...(all === true && { all: '1' as const }) };
    const view = await daemon.get('/api/board', { query });
    const wanted = view.workers.filter(
      (worker) =>
        (run === undefined || worker.orchestrator === run) &&
        (ticket === undefined || worker.ticket.toUpperCase() === ticket.toUpperCase()),
    );
    const pullRequests = new Map(view.pullRequests.map((pullRequest) => [pullRequest.key, pullRequest]));
    const workers = wanted
      .slice(0, MOST_WORKERS)
      .map((worker) => shortWorker(worker, pullRequests.get(worker.pullRequestKey ?? '') ?? null));
    const leftOut = wanted.length - workers.length;
    const attention = view.attention.length;
    const many = leftOut === 0 ? '' : `, ${leftOut} more are omitted: ask for a run or a ticket`;
    return {
      structured: { seq: view.seq, at: view.at, workers, leftOut, attention },
      text: `${counted(wanted.length, 'agent')} at event ${view.seq}, ${counted(attention, 'attention item')}${many}.`,
      outside: workers.map((worker) =>
        plainText(
          [
            worker.ticket,
            worker.run,
            worker.state,
            worker.pullRequest ?? '-',
            worker.waitsFor === null ? '' : `waiting for ${worker.waitsFor}`,
            worker.needs.length === 0 ? '' : `needs a person: ${worker.needs.join(', ')}`,
          ].join('  '),
        ),
      ),
    };
  },
});

function shortWorker(worker: Worker, seen: { state: string } | null) {
  const { ticket, status, statusSince, phase, repo, branch, wave, pullRequest } = worker;
  const { rule, waitsFor, until, needs, attempts, budget, contradictions, error } = worker;
  return {
    ticket,
    run: worker.orchestrator,
    status,
    state: workerText(worker, seen),
    statusSince,
    phase,
    repo,
    branch,
    wave,
    pullRequest,
    rule,
    waitsFor,
    until,
    needs,
    failedDeploys: attempts,
    deployBudget: budget,
    contradictions,
    error,
  };
}

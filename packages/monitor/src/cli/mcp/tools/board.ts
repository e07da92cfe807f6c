// board: what each worker is doing and waits for. A worker is shown short; `why` tells the rest.
import type { Worker } from '@svc/client';
import { z } from 'zod';
import { needDaemon } from '../../session.ts';
import { counted, plainText } from '../../text.ts';
import { looksOnly, tool } from '../tool.ts';

const MOST_WORKERS = 200;

export const boardTool = tool({
  name: 'board',
  title: 'What every worker is doing',
  description:
    'The workers of all runs, or of one run or ticket: status, pull request, what each waits for and until when. `at` shows a past moment. For one ticket in depth use why.',
  scope: 'read',
  hints: looksOnly,
  input: z.strictObject({
    run: z.string().min(1).max(120).optional().describe('only workers of this run'),
    ticket: z.string().min(1).max(120).optional().describe('only workers of this ticket, like ABC-12'),
    at: z.string().min(1).max(40).optional().describe('a seq, an ISO time, or how long ago, like 2h'),
    all: z.boolean().optional().describe('also what was settled more than a week ago'),
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
    const workers = wanted.slice(0, MOST_WORKERS).map(shortWorker);
    const leftOut = wanted.length - workers.length;
    const attention = view.attention.length;
    const many = leftOut === 0 ? '' : `, ${leftOut} more are left out: ask for a run or a ticket`;
    return {
      structured: { seq: view.seq, at: view.at, workers, leftOut, attention },
      text: `${counted(wanted.length, 'worker')} at line ${view.seq} of the log, ${counted(attention, 'item')} of attention${many}.`,
      outside: workers.map((worker) =>
        plainText(
          [
            worker.ticket,
            worker.run,
            worker.status,
            worker.pullRequest ?? '-',
            worker.waitsFor === null ? '' : `waits for ${worker.waitsFor}`,
          ].join('  '),
        ),
      ),
    };
  },
});

function shortWorker(worker: Worker) {
  const { ticket, status, statusSince, phase, repo, branch, wave, pullRequest } = worker;
  const { rule, waitsFor, until, attempts, budget, contradictions, error } = worker;
  return {
    ticket,
    run: worker.orchestrator,
    status,
    statusSince,
    phase,
    repo,
    branch,
    wave,
    pullRequest,
    rule,
    waitsFor,
    until,
    failedDeploys: attempts,
    deployBudget: budget,
    contradictions,
    error,
  };
}

// svc orchestrate start | status | pause | resume | cancel | retry
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Answer } from '@svc/client';
import { readText } from '@svc/lib/paths';
import { needDaemon, requestedBy } from '../../../cli/kit/daemon.ts';
import type { DaemonClient } from '../../../cli/kit/daemon-client.ts';
import { registeredFolder } from '../../../cli/kit/registration.ts';
import { routeVerb } from '../../../cli/kit/route-verb.ts';
import { printJson, printTable, type Terminal } from '../../../cli/kit/terminal.ts';
import { ageText, counted, plainText, timeText } from '../../../cli/kit/text.ts';
import { collect, verb, verbGroup } from '../../../cli/kit/verb.ts';
import { inLine } from '../../../kernel/board/label.ts';
import { Failure } from '../../../kernel/failure.ts';
import { runCostText } from '../../agents/cost.ts';
import { readWorkerWords } from '../../workers/verbs/worker-words.ts';
import { runLabel, verificationLabel, waveLabel } from '../run-labels.ts';
import {
  baseOption,
  checkOption,
  modelOption,
  modeOption,
  printNotes,
  printPreflight,
} from './start-checks.ts';

type RunDetail = Answer<'GET', '/api/runs/{run}'>;

export function orchestrateVerbs(terminal: Terminal): CommandUnknownOpts {
  return verbGroup(
    'orchestrate',
    {
      summary: 'Run tickets in parallel waves and verify the results',
      example: ['svc orchestrate start ABC-1 ABC-2', 'svc orchestrate status'],
    },
    [
      startVerb(terminal),
      statusVerb(terminal),
      pauseVerb(terminal),
      resumeVerb(terminal),
      cancelVerb(terminal),
      retryVerb(terminal),
    ],
  );
}

function startVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('start', {
    summary: 'Start a run; it continues when you close the terminal',
    example: [
      'svc orchestrate start ABC-1 ABC-2 --max-parallel 2',
      'svc orchestrate start --wave ABC-1,ABC-2 --wave ABC-3',
      'svc orchestrate start ABC-1 ABC-2 ABC-3 --dependencies',
      'svc orchestrate start --file plan.json',
      'svc orchestrate start ABC-1 ABC-2 --agent codex --agent ABC-2=claude',
    ],
    route: 'POST /api/runs; with --check POST /api/runs/preflight',
  })
    .argument('[tickets...]')
    .option('--wave <tickets>', 'tickets of one wave, comma-separated; repeatable', collect, [] as string[])
    .option('--dependencies', 'order the tickets by their blockers in the tracker')
    .option('--file <path>', 'JSON plan, see docs/guide/orchestration.md')
    .option('--max-parallel <count>', 'number of agents at once', Number)
    .option(...baseOption)
    .option('--agent <name>', 'agent of the run; ABC-2=claude: of one ticket', collect, [] as string[])
    .option(...modelOption)
    .option(...modeOption)
    .option('--name <id>', 'name of the run')
    .option(...checkOption)
    .option('--json', 'print JSON')
    .action(async (tickets, options) => {
      const daemon = await needDaemon(terminal);
      const { maxParallel, dependencies, base, name, model, mode } = options;
      const body = {
        ...(await planOf(tickets, options)),
        project: await registeredFolder(terminal),
        base,
        model,
        mode,
        ...agentsIn(options.agent),
      };
      if (options.check === true)
        return printPreflight(terminal, options.json, await daemon.post('/api/runs/preflight', { body }));
      const answer = await daemon.post('/api/runs', {
        body: { ...body, maxParallel, dependencies, name, ...requestedBy(terminal) },
      });
      if (options.json) return printJson(terminal, answer);
      printNotes(terminal, answer.notes);
      const { orchestrator, tickets: count, waves } = answer;
      terminal.out(
        `Started ${orchestrator}: ${counted(count, 'ticket')} in ${counted(waves.length, 'wave')}.`,
      );
      for (const { ticket, blocker, state } of answer.outsideBlockers)
        terminal.out(
          `${plainText(ticket)} is blocked by ${plainText(blocker)} (${plainText(state)}), which is not in this run.`,
        );
      terminal.out(`Follow it: svc orchestrate status ${orchestrator}`);
    });
}

/** `codex` is for the run, `ABC-2=claude` for a ticket. */
function agentsIn(given: readonly string[]): { agent?: string; agents?: Record<string, string> } {
  const [forRun = [], forTickets = []] = [false, true].map((hasTicket) =>
    given.filter((text) => text.includes('=') === hasTicket),
  );
  const [agent, second] = forRun;
  if (second !== undefined)
    throw new Failure('usage', 'A run has one agent. For a single ticket: --agent ABC-2=claude');
  const agents = Object.fromEntries(
    forTickets.map((text) => [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)]),
  );
  return { ...(agent !== undefined && { agent }), ...(forTickets.length > 0 && { agents }) };
}

async function planOf(
  tickets: string[],
  options: { wave: string[]; file?: string | undefined; dependencies?: true | undefined },
) {
  const { wave, file } = options;
  if (options.dependencies === true && tickets.length === 0)
    throw new Failure(
      'usage',
      '--dependencies needs tickets: svc orchestrate start ABC-1 ABC-2 --dependencies',
    );
  if ([tickets.length > 0, wave.length > 0, file !== undefined].filter(Boolean).length !== 1)
    throw new Failure('usage', 'Pass either tickets, or waves with --wave, or a plan with --file.');
  if (file === undefined)
    return wave.length > 0 ? { waves: wave.map((text) => text.split(',')) } : { tickets };
  try {
    return { plan: JSON.parse(await readText(file)) as unknown };
  } catch (error) {
    throw new Failure('usage', `${file} cannot be read: ${error instanceof Error ? error.message : ''}`);
  }
}

function statusVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('status', {
    summary: 'Show the status of runs and what blocks them',
    example: ['svc orchestrate status', 'svc orchestrate status ABC-1'],
    route: 'GET /api/runs; of one run GET /api/runs/:run',
  })
    .argument('[run]')
    .option('--json', 'print JSON')
    .action(async (run, { json }) => {
      const daemon = await needDaemon(terminal);
      if (run !== undefined) {
        const answer = await daemon.get('/api/runs/{run}', { params: { run } });
        return json ? printJson(terminal, answer) : printRun(terminal, daemon, answer);
      }
      const { runs } = await daemon.get('/api/runs');
      if (json) return printJson(terminal, runs);
      if (runs.length === 0) terminal.out('No runs yet. Start one: svc orchestrate start <tickets…>');
      printTable(
        terminal,
        runs.map((one) => [
          plainText(one.orchestrator),
          inLine(runLabel(one.state)),
          `${one.done} of ${one.tickets} done`,
          one.startedAt === null ? '' : `started ${ageText(one.startedAt, terminal.now())}`,
          one.costUsd === null ? '' : runCostText(one),
        ]),
      );
    });
}

async function printRun(terminal: Terminal, daemon: DaemonClient, run: RunDetail): Promise<void> {
  const wordsOf = await readWorkerWords(daemon);
  terminal.out(
    `${plainText(run.orchestrator)}: ${inLine(runLabel(run.state))}, ${run.done} of ${run.tickets} done`,
  );
  if (run.startedAt !== null) terminal.out(`  started  ${timeText(run.startedAt, terminal.now())}`);
  const { hours, waiting } = run.waited;
  if (hours > 0 || waiting > 0)
    terminal.out(`  people   waited for ${hours.toFixed(1)} h, ${waiting} waiting now`);
  if (run.costUsd !== null) terminal.out(`  cost     ${runCostText(run)}`);
  for (const { wave, state, tickets } of run.waves) {
    terminal.out(`Wave ${wave}: ${inLine(waveLabel(state))}`);
    printTable(
      terminal,
      tickets.map(({ ticket, status, since, pr, verification, error }) => [
        `  ${plainText(ticket)}`,
        status === null ? 'not started' : plainText(wordsOf({ ...run, ticket, status })),
        since === null ? '' : ageText(since, terminal.now()),
        pr === null ? '' : `#${pr.number}`,
        verification === null ? '' : `verification ${inLine(verificationLabel(verification))}`,
        plainText(error ?? ''),
      ]),
    );
  }
  for (const { message, until } of run.holds)
    terminal.out(`${plainText(message)}${until === null ? '' : ` (${ageText(until, terminal.now())})`}`);
}

const printed = (terminal: Terminal, answer: RunDetail, _: unknown, daemon: DaemonClient) =>
  printRun(terminal, daemon, answer);

const pauseVerb = routeVerb('pause', 'POST /api/runs/{run}/pause', {
  summary: 'Pause a run: start no more tickets; running ones continue',
  example: 'svc orchestrate pause ABC-1 --machine kim-laptop',
  fields: { run: ['<run>'] },
  acts: true,
  remote: ({ run }) => ({ verb: 'pause', run }),
  print: printed,
});

const resumeVerb = routeVerb('resume', 'POST /api/runs/{run}/resume', {
  summary: 'Resume a paused run',
  example: 'svc orchestrate resume ABC-1',
  fields: { run: ['<run>'] },
  acts: true,
  print: printed,
});

const cancelVerb = routeVerb('cancel', 'POST /api/runs/{run}/cancel', {
  summary: 'Cancel a run, or one of its tickets; worktrees stay',
  details: 'The agents are stopped.',
  example: 'svc orchestrate cancel ABC-1 ABC-2',
  fields: { run: ['<run>'], ticket: ['[ticket]'] },
  acts: true,
  print: printed,
});

const retryVerb = routeVerb('retry', 'POST /api/runs/{run}/retry', {
  summary: 'Retry a failed, stalled or canceled ticket',
  details:
    'Its agent gets a new process, with the current environment. An agent that works has to be stopped first. A run that has ended continues.',
  example: 'svc orchestrate retry ABC-1 ABC-2',
  fields: { run: ['<run>'], ticket: ['<ticket>'] },
  acts: true,
  print: (terminal, answer, { ticket }, daemon) => {
    terminal.out(`${plainText(ticket)} is started again, with a new process.`);
    printNotes(terminal, answer.notes);
    return printRun(terminal, daemon, answer);
  },
});

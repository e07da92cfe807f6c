// svc orchestrate start | status | pause | resume | cancel | retry
import { readFile } from 'node:fs/promises';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Answer } from '@svc/client';
import { Failure } from '../../errors.ts';
import { registeredFolder } from '../checks/registration.ts';
import { needDaemon, speaker } from '../session.ts';
import { printJson, printTable, type Terminal } from '../terminal.ts';
import { ageText, counted, plainText, timeText } from '../text.ts';
import { verb, verbGroup } from '../verb.ts';

type RunDetail = Answer<'GET', '/api/runs/{run}'>;

export function orchestrateVerbs(terminal: Terminal): CommandUnknownOpts {
  return verbGroup(
    'orchestrate',
    {
      summary: 'Run many tickets at once, in waves, and believe nobody’s word',
      example: ['svc orchestrate start ABC-1 ABC-2', 'svc orchestrate status'],
    },
    [
      startVerb(terminal),
      statusVerb(terminal),
      actionVerb(terminal, 'pause', 'Start nothing more; what runs goes on'),
      actionVerb(terminal, 'resume', 'Go on after a pause'),
      cancelVerb(terminal),
      retryVerb(terminal),
    ],
  );
}

function startVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('start', {
    summary: 'Begin a run; it goes on in the daemon when the terminal is closed',
    example: [
      'svc orchestrate start ABC-1 ABC-2 --max-parallel 2',
      'svc orchestrate start --wave ABC-1,ABC-2 --wave ABC-3',
      'svc orchestrate start ABC-1 ABC-2 ABC-3 --dependencies',
      'svc orchestrate start --file plan.json',
    ],
    route: 'POST /api/runs',
  })
    .argument('[tickets...]')
    .option('--wave <tickets>', 'a wave: tickets with commas; repeatable', collect, [] as string[])
    .option(
      '--dependencies',
      'the tickets in the order that the issue tracker tells: what blocks comes first',
    )
    .option('--file <path>', 'a plan: {"waves": [[…]]} or {"tickets": [{"ticket", "blockedBy"}]}')
    .option('--max-parallel <count>', 'agents at once', Number)
    .option('--base <branch>', 'branch that worktrees are made from')
    .option('--name <id>', 'name of the run')
    .option('--json', 'print JSON')
    .action(async (tickets, options) => {
      const daemon = await needDaemon(terminal);
      const { maxParallel, dependencies, base, name } = options;
      const answer = await daemon.post('/api/runs', {
        body: {
          ...(await planOf(tickets, options)),
          project: await registeredFolder(terminal),
          maxParallel,
          dependencies,
          base,
          name,
          ...speaker(terminal),
        },
      });
      if (options.json) return printJson(terminal, answer);
      const { orchestrator, tickets: count, waves } = answer;
      const words = waves.length === 1 ? 'one wave' : `${waves.length} waves`;
      terminal.out(`${orchestrator} has begun: ${counted(count, 'ticket')} in ${words}.`);
      for (const { ticket, blocker, state } of answer.outsideBlockers)
        terminal.out(
          `${plainText(ticket)} is blocked by ${plainText(blocker)} (${plainText(state)}), which is not in this run.`,
        );
      terminal.out(`See: svc orchestrate status ${orchestrator}`);
    });
}

function collect(value: string, before: string[]): string[] {
  return [...before, value];
}

async function planOf(
  tickets: string[],
  options: { wave: string[]; file?: string | undefined; dependencies?: true | undefined },
) {
  const { wave, file } = options;
  if (options.dependencies === true && tickets.length === 0)
    throw new Failure('usage', 'With --dependencies, name the tickets.');
  if ([tickets.length > 0, wave.length > 0, file !== undefined].filter(Boolean).length !== 1)
    throw new Failure('usage', 'Name the tickets, or the waves with --wave, or a plan with --file.');
  if (file === undefined)
    return wave.length > 0 ? { waves: wave.map((text) => text.split(',')) } : { tickets };
  try {
    return { plan: JSON.parse(await readFile(file, 'utf8')) as unknown };
  } catch (error) {
    throw new Failure('usage', `${file} cannot be read: ${error instanceof Error ? error.message : ''}`);
  }
}

function statusVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('status', {
    summary: 'What each run is doing, and why what waits waits',
    example: ['svc orchestrate status', 'svc orchestrate status web-20260102-030405'],
    route: 'GET /api/runs; of one run GET /api/runs/:run',
  })
    .argument('[run]')
    .option('--json', 'print JSON')
    .action(async (run, { json }) => {
      const daemon = await needDaemon(terminal);
      if (run !== undefined) {
        const answer = await daemon.get('/api/runs/{run}', { params: { run } });
        return json ? printJson(terminal, answer) : printRun(terminal, answer);
      }
      const { runs } = await daemon.get('/api/runs');
      if (json) return printJson(terminal, runs);
      if (runs.length === 0) terminal.out('There is no run. Begin one: svc orchestrate start <tickets…>');
      printTable(
        terminal,
        runs.map((one) => [
          plainText(one.orchestrator),
          one.state,
          `${one.done} of ${one.tickets} done`,
          one.startedAt === null ? '' : `began ${ageText(one.startedAt, terminal.now())}`,
          costText(one.costUsd),
        ]),
      );
    });
}

function printRun(terminal: Terminal, run: RunDetail): void {
  terminal.out(`${plainText(run.orchestrator)}: ${run.state}, ${run.done} of ${run.tickets} done`);
  if (run.startedAt !== null) terminal.out(`  began   ${timeText(run.startedAt, terminal.now())}`);
  const { hours, waiting } = run.waited;
  if (hours > 0 || waiting > 0)
    terminal.out(`  people  ${hours.toFixed(1)} h waited for reviews, ${waiting} waiting now`);
  if (run.costUsd !== null) terminal.out(`  cost    ${costText(run.costUsd)}`);
  for (const { wave, state, tickets } of run.waves) {
    terminal.out(`Wave ${wave}: ${state}`);
    printTable(
      terminal,
      tickets.map(({ ticket, status, since, pr, verification, error }) => [
        `  ${plainText(ticket)}`,
        status ?? 'waiting',
        since === null ? '' : ageText(since, terminal.now()),
        pr === null ? '' : `#${pr.number}`,
        verification === null ? '' : `verification ${plainText(verification)}`,
        plainText(error ?? ''),
      ]),
    );
  }
  for (const { message, until } of run.holds)
    terminal.out(`${plainText(message)}${until === null ? '' : ` (${ageText(until, terminal.now())})`}`);
}

function costText(usd: number | null): string {
  return usd === null ? '' : `$${usd.toFixed(2)}`;
}

function actionVerb(terminal: Terminal, action: 'pause' | 'resume', summary: string): CommandUnknownOpts {
  return verb(action, {
    summary,
    example: `svc orchestrate ${action} web-20260102-030405`,
    route: `POST /api/runs/:run/${action}`,
  })
    .argument('<run>')
    .option('--json', 'print JSON')
    .action(async (run, { json }) => {
      const daemon = await needDaemon(terminal);
      const said = { params: { run }, body: speaker(terminal) };
      show(terminal, json, await daemon.post(`/api/runs/{run}/${action}`, said));
    });
}

function cancelVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('cancel', {
    summary: 'Cancel a run and end its agents, or take one ticket out of it; worktrees stay',
    example: 'svc orchestrate cancel web-20260102-030405 ABC-2',
    route: 'POST /api/runs/:run/cancel',
  })
    .argument('<run>')
    .argument('[ticket]')
    .option('--json', 'print JSON')
    .action(async (run, ticket, { json }) => {
      const daemon = await needDaemon(terminal);
      const said = { params: { run }, body: { ticket, ...speaker(terminal) } };
      show(terminal, json, await daemon.post('/api/runs/{run}/cancel', said));
    });
}

function retryVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('retry', {
    summary: 'Start a ticket again that failed, stalled or was canceled; a run that is over goes on',
    example: 'svc orchestrate retry web-20260102-030405 ABC-2',
    route: 'POST /api/runs/:run/retry',
  })
    .argument('<run>')
    .argument('<ticket>')
    .option('--json', 'print JSON')
    .action(async (run, ticket, { json }) => {
      const daemon = await needDaemon(terminal);
      const said = { params: { run }, body: { ticket, ...speaker(terminal) } };
      show(terminal, json, await daemon.post('/api/runs/{run}/retry', said));
    });
}

function show(terminal: Terminal, json: true | undefined, answer: RunDetail): void {
  if (json) return printJson(terminal, answer);
  printRun(terminal, answer);
}

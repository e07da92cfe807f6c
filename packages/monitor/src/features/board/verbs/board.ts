// svc board
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { needDaemon } from '../../../cli/kit/daemon.ts';
import { getTeamBoard, machineOption, printMachine, teamOption } from '../../../cli/kit/on-machine.ts';
import { paint, printJson, printTable, type Terminal } from '../../../cli/kit/terminal.ts';
import { ageText, counted, plainText, timeText, utcText } from '../../../cli/kit/text.ts';
import { verb } from '../../../cli/kit/verb.ts';
import { inLine } from '../../../kernel/board/label.ts';
import { agentLabel } from '../../agents/agent-label.ts';
import { printRequest } from '../../agents/verbs/agent-answer.ts';
import { pullRequestOfSession, shownSessions } from '../../sessions/shown-sessions.ts';
import type { BoardView } from '../api.ts';
import { boardColumns } from '../board-columns.ts';
import { titlesIn } from '../worker-titles.ts';
import { workerLines } from './board-text.ts';

export function boardVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('board', {
    summary: 'Show what every agent is doing and waiting for',
    details:
      'With --at it shows the board at a past time, with --team that of every machine of the team (GET /api/team/board).',
    example: ['svc board', 'svc board --at 2h', 'svc board --team --machine kim-laptop'],
    route: 'GET /api/board, GET /api/team/board',
  })
    .option('--at <moment>', 'past time: a seq, an ISO time, or an age like 2h')
    .option('--all', 'include what settled more than a week ago')
    .option('--settled <duration>', 'how long to show settled tickets (default: 7d)')
    .option(...teamOption)
    .option(...machineOption)
    .option('--json', 'print JSON')
    .action(async ({ at, all, settled, team, machine, json }) => {
      if (team || machine !== undefined) return printTeam(terminal, { at, machine }, json === true);
      const query = {
        at,
        settled,
        ...(all === true && { all: '1' as const }),
      };
      const view = await (await needDaemon(terminal)).get('/api/board', { query });
      if (json) return printJson(terminal, view);
      printBoard(terminal, view, at === undefined ? terminal.now() : new Date(view.at ?? terminal.now()));
    });
}

type CountedBoard = BoardView & { needsYou: number };

/** `moment` is the time that the board shows. */
function printBoard(terminal: Terminal, view: CountedBoard, moment: Date): void {
  const now = terminal.now();
  terminal.out(`Event ${view.seq}, ${timeText(view.at, now)}`);
  if (view.workers.length === 0) terminal.out('No agents yet. Start a run: svc orchestrate start <tickets…>');
  if (view.workers.length > 0 || view.needsYou > 0) terminal.out(columnsLine(view, moment));
  const byRun = view.workers.toSorted(
    (a, b) =>
      a.orchestrator.localeCompare(b.orchestrator) ||
      a.ticket.localeCompare(b.ticket, 'en', { numeric: true }),
  );
  const titleOf = titlesIn(view);
  const titled = byRun.map((worker) => ({ ...worker, title: titleOf(worker) }));
  const shown = {
    items: view.attention,
    pullRequests: view.pullRequests,
    now: moment,
    columns: terminal.columns,
  };
  for (const line of workerLines(titled, shown)) terminal.out(line);
  printSessions(terminal, view.sessions, view.pullRequests, moment);
  const open = view.pullRequests.filter(({ state }) => state === 'open').length;
  terminal.out(
    `${counted(open, 'open pull request')}, ${counted(view.attention.length, 'attention item')} (svc attention)`,
  );
  for (const { feed, grade, reason, remedy } of view.feeds) {
    if (grade === 'live' || grade === 'disabled') continue;
    const why = [reason, remedy].filter((text) => text !== null).join('. ');
    terminal.out(paint(terminal, 'yellow', plainText(`The ${feed} feed is ${grade}: ${why}`)));
  }
}

async function printTeam(
  terminal: Terminal,
  query: { at?: string | undefined; machine?: string | undefined },
  json: boolean,
): Promise<void> {
  const view = await getTeamBoard(terminal, query);
  if (json) return printJson(terminal, view);
  for (const shown of view.machines) {
    printMachine(terminal, shown);
    if (shown.workers.length === 0)
      terminal.out(shown.presence === 'here' ? '  no agents' : '  unknown whether it has agents');
    const given = { items: [], pullRequests: [], now: terminal.now(), columns: terminal.columns };
    for (const line of workerLines(shown.workers, given)) terminal.out(line);
    printSessions(terminal, shown.sessions, [], terminal.now(), shown.self ? undefined : shown.machine);
    if (shown.attention.length > 0)
      terminal.out(`  ${counted(shown.attention.length, 'attention item')} (svc attention --team)`);
  }
}

/** Agents that people started themselves. */
function printSessions(
  terminal: Terminal,
  sessions: BoardView['sessions'],
  pullRequests: BoardView['pullRequests'],
  moment: Date,
  machine?: string,
): void {
  const shown = shownSessions(sessions, moment.getTime());
  if (shown.length === 0) return;
  terminal.out(`${counted(shown.length, 'session')} of agents that people started:`);
  printTable(
    terminal,
    shown.map((session) => {
      const { agent, folder, branch, state, known, since, tool, reason } = session;
      const pullRequest = pullRequestOfSession(session, pullRequests);
      return [
        plainText(folder),
        plainText(branch ?? '-'),
        agent,
        plainText(`${inLine(agentLabel({ state }, utcText))}${tool === null ? '' : ` (${tool})`}`),
        ageText(since, moment),
        plainText(pullRequest?.name ?? '-'),
        plainText(known === 'unknown' ? (reason ?? '') : `known by ${known}`),
      ];
    }),
  );
  for (const { key, open: requests } of shown)
    for (const request of requests) printRequest(terminal, request, key, machine);
}

/** What needs a person, and the size of each other column of the dashboard, by the same rule. */
function columnsLine(view: CountedBoard, moment: Date): string {
  const dayStart = new Date(moment).setHours(0, 0, 0, 0);
  const { columns } = boardColumns({ ...view, now: moment.getTime(), dayStart });
  const { working, shipping } = columns;
  return [
    `${view.needsYou} ${view.needsYou === 1 ? 'needs' : 'need'} you`,
    `${working.length} working`,
    `${columns['in-review'].length} in review`,
    `${shipping.length} shipping`,
    `${columns['done-today'].length} done today`,
  ].join(', ');
}

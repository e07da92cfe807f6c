// What a machine shares of its board: the values that a card and a ticket page need. No text of an agent, no diff, no
// folder of the machine, and titles of tickets only if its person has chosen that.
import { MAX_RECORDS_PER_MACHINE } from '@svc/contract/relay/record';
import type { Board } from '../../kernel/board/board.ts';
import { commandToShare } from '../../kernel/check/remedy-command.ts';
import type { BoardView } from '../board/api.ts';
import { boardView } from '../board/board-view.ts';
import { titlesIn } from '../board/worker-titles.ts';
import type { CommandValue, ResultValue } from './command.ts';
import { isPlainRemedy, type SharedOf, type SharedThing, withShortTexts, withShortTitle } from './shared.ts';

/** One record is the heartbeat. */
const MOST_SHARED = MAX_RECORDS_PER_MACHINE - 1;
/** Applies to commands and to results separately. */
const MOST_COMMANDS = 500;

export type PublishedThing =
  | SharedThing
  | { kind: 'command'; key: string; value: CommandValue }
  | { kind: 'result'; key: string; value: ResultValue };

/** What this machine shares, what it asks of others, and what it has answered. */
export function publishedThings(board: Board, { titles }: Sharing): PublishedThing[] {
  const entries = [...board.commands.values()];
  const commands = entries
    .filter(({ direction, state }) => direction === 'sent' && state === 'open')
    .slice(-MOST_COMMANDS)
    .map(({ id, to, at, expiresAt, command }) => ({
      kind: 'command' as const,
      key: id,
      value: { to, at, expiresAt, command },
    }));
  const results = entries
    .filter(({ direction, closed }) => direction === 'received' && !closed)
    .slice(-MOST_COMMANDS)
    .flatMap(({ key, state, why, remedy }) =>
      state === 'open' ? [] : [{ kind: 'result' as const, key, value: { state, why, remedy } }],
    );
  return [
    ...commands,
    ...results,
    ...sharedThings(board, { titles, most: MOST_SHARED - commands.length - results.length }),
  ];
}

/** Everything that this machine shares; the newest, if it is more than the relay keeps for a machine. */
export function sharedThings(
  board: Board,
  { titles = false, most = MOST_SHARED }: Partial<Sharing> & { most?: number } = {},
): SharedThing[] {
  const view = boardView(board);
  return sharedInView(view, most, titles ? titlesIn(view) : undefined);
}

/** Whether titles of tickets are shared: `svc.team.shareTitles`. */
export type Sharing = { titles: boolean };

export function sharedInView(
  view: Pick<BoardView, 'attention' | 'runs' | 'workers' | 'sessions'>,
  most: number = MOST_SHARED,
  titleOf: (worker: SharedOf<'worker'>) => string | null = () => null,
): SharedThing[] {
  const things: SharedThing[] = [
    ...view.attention.map((item) => ({
      kind: 'attention' as const,
      key: item.key,
      value: sharedAttention(item),
    })),
    ...view.runs.map((run) => ({ kind: 'run' as const, key: run.key, value: sharedRun(run) })),
    ...view.workers.map((worker) => ({
      kind: 'worker' as const,
      key: worker.key,
      value: sharedWorker(worker, titleOf(worker)),
    })),
    ...view.sessions
      .filter(({ state }) => state !== 'ended')
      .map((session) => ({ kind: 'session' as const, key: session.key, value: sharedSession(session) })),
  ];
  const newest =
    things.length <= most
      ? things
      : things.toSorted((one, other) => seqOf(other) - seqOf(one)).slice(0, most);
  return newest.map(withShortTexts);
}

function seqOf({ value }: SharedThing): number {
  return 'lastSeq' in value ? value.lastSeq : value.openedSeq;
}

function sharedWorker(whole: SharedOf<'worker'>, title: string | null): SharedOf<'worker'> {
  const { title: _title, ...worker } = whole;
  const { process, corrupt, verification, agent } = worker;
  const { stderr: _stderr, ...alive } = process;
  return withShortTitle({
    ...worker,
    ...(title !== null && { title }),
    process: alive,
    corrupt: corrupt && { ...corrupt, path: '', problem: 'its status file cannot be read' },
    verification: verification && { ...verification, summary: null },
    agent: agent && sharedAgent(agent),
    error: null,
  });
}

function sharedAgent(agent: NonNullable<SharedOf<'worker'>['agent']>): SharedOf<'worker'>['agent'] {
  return {
    ...agent,
    reason: null,
    sessionId: null,
    message: null,
    doing: null,
    problem: null,
    limit: agent.limit && { ...agent.limit, text: '' },
    open: agent.open.map(sharedRequest),
  };
}

type Request = SharedOf<'session'>['open'][number];

/** That there is a request, not what it is about. */
function sharedRequest({ request, kind }: Request): Request {
  const title = kind === 'permission' ? 'a permission' : 'a question';
  const nothing = { tool: null, toolKind: null, paths: [], command: null, options: [], fields: [] };
  return { request, kind, title, ...nothing };
}

function sharedRun(run: SharedOf<'run'>): SharedOf<'run'> {
  const { plan } = run;
  return { ...run, plan: plan && { ...plan, project: lastPart(plan.project), workerCommand: '' } };
}

function sharedSession(session: SharedOf<'session'>): SharedOf<'session'> {
  return {
    ...session,
    folder: lastPart(session.folder),
    pid: null,
    pidStartedAt: null,
    open: session.open.map(sharedRequest),
  };
}

/** Their messages are sentences of svc about facts of the code host, without a text of an agent or a folder. */
const plainReasons = /^(?:deploy|pr|budget)-/;

function sharedAttention({
  key: _key,
  ...item
}: SharedOf<'attention'> & { key: string }): SharedOf<'attention'> {
  const isPlain = item.reportedBy === 'svc' && plainReasons.test(item.reason);
  return {
    ...item,
    message: isPlain ? item.message : item.reason.replaceAll('-', ' '),
    remedy: sharedRemedy(item),
  };
}

/** Only of svc: the words of a helper may be those of an agent. */
function sharedRemedy({ remedy, reportedBy }: SharedOf<'attention'>): string | null {
  const command = reportedBy === 'svc' && remedy !== null ? commandToShare(remedy) : null;
  return isPlainRemedy(command) ? command : null;
}

function lastPart(folder: string): string {
  return folder.split('/').findLast((part) => part !== '') ?? '';
}

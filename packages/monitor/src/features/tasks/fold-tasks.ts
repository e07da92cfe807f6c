// A task after one more event, and the ticket that it became. A local ticket gets its number here, where all tasks are in
// one order, so two of them never share one.

import type { Board } from '../../kernel/board/board.ts';
import { ask, type Fold, type FoldContext, type LineOf, on } from '../../kernel/board/fold-context.ts';
import { draft } from '../../kernel/log/event-line.ts';
import { topicsIn } from '../../kernel/log/topic-family.ts';
import { localStates } from '../tracker/move-ticket.ts';
import { unknownTicket } from '../tracker/ticket.ts';
import type { Task } from './task.ts';

const REFUSED = 'task-refused';

function foldRequested(context: FoldContext<'workflow.task.requested'>): void {
  const { board, line } = context;
  const { task: key, title, body = '', local = false, project, base, by } = line.detail;
  // Only the daemon reports tasks: an agent is started for each.
  if (line.source !== 'monitor' || key === undefined || title === undefined || project === undefined) return;
  if (board.tasks.has(key)) return;
  if (local) board.localTickets += 1;
  const { agent = null, model = null, mode = null, prefix = 'T' } = line.detail;
  board.tasks.set(key, {
    key,
    seq: line.seq,
    title,
    body,
    local,
    project,
    base: base ?? null,
    agent,
    model,
    mode,
    by: by ?? 'a person',
    ticket: local ? `${prefix}-${board.localTickets}` : null,
    url: null,
    state: 'requested',
    filingAt: null,
    reason: null,
    remedy: null,
    ...lastOf(line),
  });
  ask(context, key, { kind: 'start-task', task: key, place: local ? 'local' : 'tracker', project });
}

type TaskLine = LineOf<`workflow.task.${'filing' | 'filed' | 'started' | 'refused'}`>;

function foldTask(context: FoldContext<TaskLine['event']>): void {
  const { board, line } = context;
  const known = board.tasks.get(line.detail.task ?? '');
  if (known === undefined || line.source !== 'monitor') return;
  const next = { ...known, ...afterLine(known, line), ...lastOf(line) };
  board.tasks.set(known.key, next);
  if (line.event === 'workflow.task.filed') putTicket(board, next, line);
  if (line.event === 'workflow.task.refused') raiseRefused(context, next);
}

function afterLine(known: Task, line: TaskLine): Partial<Task> {
  switch (line.event) {
    case 'workflow.task.filing':
      return { filingAt: line.ts };
    case 'workflow.task.filed':
      // From now on the tracker has the text.
      return {
        state: 'filed',
        ticket: line.scope.ticket ?? known.ticket,
        url: line.detail.url ?? null,
        body: known.local ? known.body : '',
      };
    case 'workflow.task.started':
      return { state: 'started' };
    case 'workflow.task.refused':
      return {
        state: 'refused',
        reason: line.detail.reason ?? null,
        remedy: line.detail.remedy ?? null,
        ...(known.ticket === null && { body: '' }),
      };
  }
}

function putTicket(board: Board, { ticket, title, url, local }: Task, line: TaskLine): void {
  if (ticket === null) return;
  const known = board.tickets.get(ticket);
  // The tracker has reported it already.
  if (known !== undefined && known.title !== null) return;
  board.tickets.set(ticket, {
    ...unknownTicket(ticket, line),
    title,
    url,
    state: local ? localStates.todo : null,
    ...known,
    ...(known !== undefined && { title, url: known.url ?? url }),
    ...(local && { local }),
    ...lastOf(line),
  });
}

/** The caller may be gone: a daemon that was restarted continues the task. */
function raiseRefused(context: FoldContext, { ticket, title, reason, remedy }: Task): void {
  const what =
    ticket === null
      ? `The task “${title}” was not started`
      : `No run was started for the new ticket ${ticket}`;
  const raised = draft('comms.attention', ticket === null ? {} : { ticket }, {
    reason: REFUSED,
    message: `${what}: ${reason ?? 'unknown'}`,
    ...(remedy !== null && { remedy }),
    severity: 'medium',
    evidence: [context.line.seq],
  });
  ask(context, REFUSED, { kind: 'append', draft: raised });
}

function lastOf({ seq, ts }: Pick<LineOf, 'seq' | 'ts'>) {
  return { lastSeq: seq, lastAt: ts };
}

export const taskFolds: readonly Fold[] = [
  on(['workflow.task.requested'], foldRequested),
  on(topicsIn('workflow.task', ['filing', 'filed', 'started', 'refused']), foldTask),
];

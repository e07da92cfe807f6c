// Events of agents that people start themselves: one session each, by its folder and branch. A session that waits for a
// person is an attention item, until it goes on or nothing is known of it any more.
import { onlyKnown } from '@svc/contract/payload-fields';
import { ask, type Fold, type FoldContext, on } from '../../kernel/board/fold-context.ts';
import { short } from '../../kernel/board/line-values.ts';
import { draft, type EventDraft } from '../../kernel/log/event-line.ts';
import { topicsIn } from '../../kernel/log/topic-family.ts';
import { attentionId } from '../attention/reduce-attention.ts';
import { sessionStates } from './hooks.ts';
import type { Session } from './session.ts';
import { sessionTopicNames } from './topics.ts';

const sessionTopics = topicsIn('session', sessionTopicNames);
type SessionTopic = (typeof sessionTopics)[number];

const topicOf: Readonly<Record<Session['state'], SessionTopic>> = {
  running: 'session.running',
  'needs-permission': 'session.needs_permission',
  'needs-input': 'session.needs_input',
  idle: 'session.idle',
  ended: 'session.ended',
  unknown: 'session.unknown',
};

/** The event that puts a session on the board. */
export function sessionEvent(
  key: string,
  session: Omit<Session, 'key' | 'since' | 'lastSeq' | 'lastAt'>,
): EventDraft {
  const { agent, folder, branch, state, known, tool, reason, pid, pidStartedAt, open } = session;
  return draft(
    topicOf[state],
    onlyKnown({ session: key, branch: branch ?? undefined }),
    onlyKnown({
      agent,
      folder,
      known,
      tool: tool ?? undefined,
      reason: reason ?? undefined,
      pid: pid ?? undefined,
      pidStartedAt: pidStartedAt ?? undefined,
      open: open.length === 0 ? undefined : open,
    }),
  );
}

function foldSession(context: FoldContext<SessionTopic>): void {
  const { board, line } = context;
  const key = line.scope.session;
  const { agent, folder, known, tool, reason, pid, pidStartedAt, open = [] } = line.detail;
  // Only the daemon knows sessions.
  if (line.source !== 'monitor' || key === undefined || agent === undefined) return;
  const before = board.sessions.get(key);
  const state = sessionStates.find((one) => topicOf[one] === line.event) ?? 'unknown';
  const session: Session = {
    key,
    agent,
    folder: short(folder) ?? before?.folder ?? '/',
    branch: short(line.scope.branch) ?? null,
    state,
    known: known ?? 'unknown',
    since: before?.state === state ? before.since : line.ts,
    tool: short(tool) ?? null,
    reason: short(reason) ?? null,
    pid: pid ?? null,
    pidStartedAt: short(pidStartedAt) ?? null,
    open,
    lastSeq: line.seq,
    lastAt: line.ts,
  };
  board.sessions.set(key, session);
  const canAnswerNow = open.length > 0 && before?.open.length === 0;
  if (before?.state === state && !canAnswerNow) return;
  const left = before && reasons[before.state];
  if (left !== undefined && before?.state !== state) resolve(context, key, left, state);
  if (reasons[state] !== undefined) raise(context, key, session, reasons[state]);
}

/** The states in which an agent waits for a person. */
const reasons: Partial<Record<Session['state'], string>> = {
  'needs-permission': 'agent-needs-permission',
  'needs-input': 'agent-needs-input',
};

function raise(context: FoldContext, key: string, session: Session, reason: string): void {
  const { agent, folder, branch, tool, state, open } = session;
  const what =
    state === 'needs-input' ? 'asks a question' : `asks for permission${tool === null ? '' : ` (${tool})`}`;
  const where = branch === null ? folder : `${folder}, branch ${branch}`;
  ask(context, attentionId({ orchestrator: null, ticket: null, session: key, reason }), {
    kind: 'append',
    draft: draft(
      'comms.attention',
      { session: key },
      {
        reason,
        message: `${agent} ${what} in ${where}`,
        remedy: `${open.length === 0 ? 'Answer' : `Within a minute: svc agent answer ${key} allow (or reject). Or answer`} it in the terminal in which it runs: ${folder}`,
        severity: 'high',
        evidence: [context.line.seq],
      },
    ),
  });
}

const ends: Readonly<Record<Session['state'], string>> = {
  running: 'the agent goes on',
  'needs-permission': 'the agent asks for something else',
  'needs-input': 'the agent asks for something else',
  idle: 'the agent has ended its turn',
  ended: 'the session has ended',
  unknown: 'the session no longer reports what it does',
};

function resolve(context: FoldContext, key: string, reason: string, state: Session['state']): void {
  const id = attentionId({ orchestrator: null, ticket: null, session: key, reason });
  ask(context, `${id} resolved`, {
    kind: 'append',
    draft: draft(
      'comms.attention_resolved',
      { session: key },
      { reason, message: `Resolved: ${ends[state]}`, by: 'svc' },
    ),
  });
}

export const sessionFolds: readonly Fold[] = [on(sessionTopics, foldSession)];

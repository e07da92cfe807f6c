// Executes what a member of the team asks of this machine. It acts as the same action at this machine does, in the name of
// the member. It is executed once: an action that is a line has the id of the command, and the agent's messages and
// answers have it as their key, so after a kill the same action is found, and not done again.
import { cutText } from '@svc/lib/cut-text';
import { answerAgent, messageAgent } from '../features/agents/service.ts';
import { attentionActions } from '../features/attention/service.ts';
import { decideDeploy } from '../features/deploy/service.ts';
import { pauseOrResume } from '../features/runs/service.ts';
import type { HookSessions } from '../features/sessions/io/sessions.ts';
import {
  COMMAND_MS,
  type CommandAllowances,
  commandRemedies,
  isAllowed,
  type ResultValue,
  scopeOfCommand,
} from '../features/team/command.ts';
import { askedBy } from '../features/team/io/commands.ts';
import type { CommandEntry } from '../features/team/records.ts';
import { causeStands } from '../features/tickets/needs.ts';
import { ticketNamed } from '../features/tickets/subject.ts';
import { why as explain } from '../features/why/why.ts';
import { boardOf, type StateAccess } from '../kernel/board/state-access.ts';
import { Failure } from '../kernel/failure.ts';
import { draft, type EventDraft } from '../kernel/log/event-line.ts';
import type { EventLog } from '../kernel/log/event-log.ts';
import type { Outcome } from '../kernel/outbox/attempt.ts';
import type { Effect } from '../kernel/outbox/effect.ts';
import type { Orchestration } from './orchestration.ts';

/** Clocks may differ by this much. */
const CLOCKS_MS = 2 * 3_600_000;
/** It is tried again. */
const passing: readonly string[] = ['state-not-ready', 'log-not-writable', 'file-busy', 'busy'];
/** Their messages name no folder of this machine. */
const plain: readonly string[] = [
  'usage',
  'unknown-ticket',
  'unknown-attention',
  'unknown-run',
  'not-allowed-now',
];

export function createTeamCommands(options: {
  state: StateAccess;
  log: Pick<EventLog, 'appendOnce' | 'hasDelivery' | 'ready'>;
  orchestration: Pick<Orchestration, 'agents' | 'orchestrator'>;
  sessions: () => Pick<HookSessions, 'answer'>;
  /** Nothing is allowed while the configuration cannot be read. */
  teamAllow: () => CommandAllowances;
  now: () => number;
}): (effect: Extract<Effect, { kind: 'team-command' }>) => Promise<Outcome> {
  const { state, log, orchestration, now } = options;

  async function execute({ key, command, by }: CommandEntry & { by: string }): Promise<unknown> {
    const append = (line: EventDraft) => log.appendOnce({ ...line, deliveryId: `team-command:${key}` });
    const { agents, orchestrator } = orchestration;
    const attention = attentionActions({ state, append, causeStands });
    switch (command.verb) {
      case 'acknowledge':
        return attention.acknowledge({ id: command.item, by });
      case 'hand-over':
        return attention.handOver({
          id: command.item,
          by,
          to: command.to,
          note: command.note,
          isAsked: true,
        });
      case 'retry-deploy':
        return decideDeploy(
          { state, append, ticketNamed, why: explain, now },
          { ...command, action: 'retry', by },
        );
      case 'pause':
        return pauseOrResume({ state, append, orchestrator }, command.run, 'paused', by);
      case 'send':
        return messageAgent({ state, agents }, { ...command, by, key });
      case 'answer': {
        const { subject, request, answer } = command;
        if (subject.includes('/'))
          return options.sessions().answer({ session: subject, request, answer, by });
        const { orchestrator: run } = command;
        return answerAgent(
          { state, agents },
          { ticket: subject, orchestrator: run, request, answer, by, key },
        );
      }
    }
  }

  /** Why it is not executed. */
  function refusal({ from, command, expiresAt, closed }: CommandEntry): ResultValue | undefined {
    const member = boardOf(state).members.get(from);
    const leftMs = Date.parse(expiresAt) - now();
    if (member === undefined || closed)
      return { state: 'refused', why: 'It is no longer asked for.', remedy: null };
    if (leftMs < 0)
      return {
        state: 'expired',
        why: 'It arrived more than 24 hours after it was sent.',
        remedy: commandRemedies.again,
      };
    if (leftMs > COMMAND_MS + CLOCKS_MS)
      return {
        state: 'refused',
        why: 'The clocks of the two machines differ by hours.',
        remedy: commandRemedies.clocks,
      };
    if (isAllowed(options.teamAllow(), member, command.verb)) return undefined;
    return {
      state: 'refused',
      why: `Its owner does not allow you to ${command.verb} there.`,
      remedy: commandRemedies.allow,
    };
  }

  async function resultOf(entry: CommandEntry, by: string): Promise<ResultValue> {
    // It was executed before the daemon was killed.
    if (log.hasDelivery('cli', `team-command:${entry.key}`)) return done;
    const refused = refusal(entry);
    if (refused !== undefined) return refused;
    try {
      await execute({ ...entry, by });
      return done;
    } catch (error) {
      if (!(error instanceof Failure) || passing.includes(error.code)) throw error;
      const why = plain.includes(error.code)
        ? cutText(error.message, 1_000)
        : 'It could not be executed there.';
      return { state: 'failed', why, remedy: commandRemedies.look };
    }
  }

  return async ({ command: key }) => {
    await log.ready;
    const board = boardOf(state);
    const entry = board.commands.get(key);
    const once = `team-command-ended:${key}`;
    if (entry === undefined || log.hasDelivery('monitor', once)) return { done: 'already' };
    const by = askedBy(board.members.get(entry.from));
    const { state: end, why, remedy } = await resultOf(entry, by);
    const detail = {
      command: entry.id,
      from: entry.from,
      state: end,
      by,
      ...(why !== null && { why }),
      ...(remedy !== null && { remedy }),
    };
    await log.appendOnce(
      draft('team.command.ended', scopeOfCommand(entry.command), detail, { deliveryId: once }),
    );
    return { done: end };
  };
}

const done: ResultValue = { state: 'done', why: null, remedy: null };

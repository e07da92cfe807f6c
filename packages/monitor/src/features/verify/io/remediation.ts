// Executes the outbox's effect that files the findings of a failed verification: a ticket in the team of the ticket's
// project, or a finding in the project's queue if no tracker is set up. Executed twice it is filed once: the ticket's
// id, and the key in its text, come from the effect.
import type { EventDraft } from '../../../kernel/log/event-line.ts';
import type { Attempt, Outcome } from '../../../kernel/outbox/attempt.ts';
import type { Config } from '../../config.ts';
import { findingLabels } from '../../findings/findings.ts';
import { fileOnce } from '../../findings/io/drain.ts';
import { type AppendFinding, ticketKey } from '../../findings/io/queue.ts';
import {
  type FiledTicket,
  NotFiled,
  type TicketDestination,
  type Tracker,
  TrackerError,
} from '../../tracker/io/tracker.ts';
import { projectOfTicket } from '../../tracker/ticket-phase.ts';
import { type ConfiguredTracker, trackerOf } from '../../tracker/tracker-of.ts';
import {
  REMEDIATION_SKILL,
  type RemediationEffect,
  remediationFinding,
  remediationTicket,
} from '../remediation-ticket.ts';

type Filed = { destination: 'tracker'; filedAs: string; url: string } | { destination: 'finding' };

export function createRemediationHandler(options: {
  configs: () => readonly Config[];
  open: (chosen: ConfiguredTracker) => Pick<Tracker, 'filing'>;
  appendFinding: AppendFinding;
  /** Appends a line once per delivery id. */
  append: (draft: EventDraft) => Promise<unknown>;
  now: () => number;
}): (effect: RemediationEffect, attempt: Attempt) => Promise<Outcome> {
  const { now } = options;
  /** By tracker, so team and labels are fetched once. */
  const known = new Map<string, TicketDestination>();

  const filingOf = (config: Config): TicketDestination | undefined => {
    const chosen = trackerOf(config);
    if (chosen.provider === undefined) return undefined;
    const key = JSON.stringify(chosen);
    const filing = known.get(key) ?? options.open(chosen).filing;
    known.set(key, filing);
    return filing;
  };

  const asTicket = async (
    effect: RemediationEffect,
    key: string,
    { destination, config, again }: { destination: TicketDestination; config: Config; again: boolean },
  ): Promise<FiledTicket> => {
    const labels = findingLabels(config.svc.feedback.labels, REMEDIATION_SKILL);
    await destination.prepare(labels);
    const ticket = { key, ...remediationTicket(effect, key), labels, severity: 'high' as const };
    return fileOnce(destination, ticket, { attemptedAt: again ? 0 : undefined, now });
  };

  const carryOut = async (effect: RemediationEffect, again: boolean): Promise<Filed | undefined> => {
    // The key of an effect is unique in this log; with the commit it is unique across machines.
    const key = ticketKey(effect.key, effect.orchestrator, effect.sha ?? '');
    const config = projectOfTicket(options.configs(), effect.ticket);
    const destination = config && filingOf(config);
    if (config !== undefined && destination !== undefined)
      return { destination: 'tracker', ...(await asTicket(effect, key, { destination, config, again })) };
    if (effect.project === null) return undefined;
    const finding = remediationFinding(effect, key, new Date(now()).toISOString());
    await options.appendFinding(effect.project, finding, key);
    return { destination: 'finding' };
  };

  return async (effect, attempt) => {
    try {
      const filed = await carryOut(effect, attempt.number > 1);
      if (filed === undefined) return nowhere(effect);
      await options.append(filedEvent(effect, filed));
      return { done: filed.destination === 'tracker' ? `filed as ${filed.filedAs}` : 'noted as a finding' };
    } catch (error) {
      if (!(error instanceof NotFiled)) throw error;
      return outcomeOf(error);
    }
  };
}

function filedEvent({ key, orchestrator, ticket, sha }: RemediationEffect, filed: Filed): EventDraft {
  return {
    event: 'orchestrator.verification.remediation_filed',
    source: 'monitor',
    via: 'local',
    deliveryId: `outbox:${key}:filed`,
    scope: { orchestrator, ticket, ...(sha !== null && { mergeSha: sha }) },
    detail: filed,
  };
}

function nowhere({ ticket }: RemediationEffect): Outcome {
  return {
    failed: `No tracker is set up for ${ticket}, and the folder of its project is unknown. File it by hand, or set up the tracker: svc config set svc.tracker.teamKey <key>`,
    permanent: true,
  };
}

function outcomeOf({ message, remedy, cause }: NotFiled): Outcome {
  const problem = cause instanceof TrackerError ? cause.problem : undefined;
  const failed = [message, remedy ?? ''].join(' ').trim();
  switch (problem?.kind) {
    case 'rate-limited':
      return { failed, retryAfterMs: problem.retryAfterMs };
    case 'unauthorised':
    case 'forbidden':
    case 'not-found':
    case undefined:
      return { failed, permanent: true };
    case 'unavailable':
    case 'malformed':
    case 'graphql':
      return { failed };
  }
}

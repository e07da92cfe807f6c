// What changed between two boards, by ticket: for whoever was away.
import type { BoardView } from '@svc/core';
import { statusWords } from '../../parts/status-meaning.ts';

type Entities = {
  [Kind in 'workers' | 'pullRequests' | 'attention' | 'tickets']: ReadonlyMap<
    string,
    BoardView[Kind][number]
  >;
};

export type BoardDifference = {
  /** The ticket, else the name of the pull request or the feed. */
  subject: string;
  ticket: string | null;
  run: string | null;
  title: string | null;
  changes: { what: string; from: string | null; to: string; needsYou: boolean }[];
  /** The newest line of it. */
  lastSeq: number;
};

export function boardDifferences(before: Entities, after: Entities): BoardDifference[] {
  const found = new Map<string, BoardDifference>();
  const titles = new Map([...after.tickets.values()].map((one) => [one.ticket.toUpperCase(), one.title]));

  const note = (
    about: { subject: string; ticket: string | null; run?: string | null; title?: string | null },
    change: BoardDifference['changes'][number],
    seq: number,
  ): void => {
    const key = about.subject.toUpperCase();
    const known = found.get(key);
    if (known === undefined)
      found.set(key, {
        subject: about.subject,
        ticket: about.ticket,
        run: about.run ?? null,
        title: titles.get(about.ticket?.toUpperCase() ?? '') ?? about.title ?? null,
        changes: [change],
        lastSeq: seq,
      });
    else {
      known.changes.push(change);
      known.lastSeq = Math.max(known.lastSeq, seq);
    }
  };

  for (const [key, worker] of after.workers) {
    const [from, to] = [standing(before.workers.get(key)), standing(worker)];
    if (from === to || to === null) continue;
    const { ticket, orchestrator: run, statusSeq } = worker;
    note({ subject: ticket, ticket, run }, { what: 'Worker', from, to, needsYou: false }, statusSeq);
  }
  for (const [key, { ticket, name, state, title, lastSeq }] of after.pullRequests) {
    const from = before.pullRequests.get(key)?.state ?? null;
    if (from === state) continue;
    const what = `Pull request ${name}`;
    note({ subject: ticket ?? name, ticket, title }, { what, from, to: state, needsYou: false }, lastSeq);
  }
  for (const [id, { ticket, feed, orchestrator: run, message, openedSeq }] of after.attention) {
    if (before.attention.get(id)?.openedSeq === openedSeq) continue;
    const subject = ticket ?? (feed === null ? 'svc' : `${feed} feed`);
    note({ subject, ticket, run }, { what: 'Needs you', from: null, to: message, needsYou: true }, openedSeq);
  }
  for (const [id, { ticket, feed, orchestrator: run, reason, openedSeq }] of before.attention) {
    if (after.attention.has(id)) continue;
    const subject = ticket ?? (feed === null ? 'svc' : `${feed} feed`);
    const to = `${reason} is resolved`;
    note({ subject, ticket, run }, { what: 'Attention', from: null, to, needsYou: false }, openedSeq);
  }
  return [...found.values()].toSorted((one, other) => other.lastSeq - one.lastSeq);
}

/** How many changes there are, not how many tickets have some. */
export function countOf(differences: readonly BoardDifference[]): number {
  return differences.reduce((sum, { changes }) => sum + changes.length, 0);
}

/** Null while there is none. */
function standing(worker: BoardView['workers'][number] | undefined): string | null {
  if (worker === undefined) return null;
  return worker.removed ? 'Signal file gone' : statusWords(worker.status);
}

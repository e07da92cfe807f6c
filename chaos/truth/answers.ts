// What the product answers about a worker and a ticket, wherever it is asked, and how that compares with the model.
import type { Model } from './model.ts';

interface WorkerAnswers {
  run: string;
  ticket: string;
  board: string;
  why: string;
  receipt: { status: string; isShipped: boolean };
  /** What `why` says of the same; only where it was asked. */
  isShippedByWhy?: boolean;
  /** Null while it holds what the agent wrote into it last. */
  signal: string | null;
}
interface TicketAnswers {
  ticket: string;
  receipt: { run: string | null; isShipped: boolean };
  isTrackerDone: boolean;
  /** Whether it shipped, by other programs that were asked. */
  others?: Record<string, boolean>;
}
export interface Answers {
  workers: WorkerAnswers[];
  tickets: TicketAnswers[];
}

export type Kind =
  | 'false done'
  | 'false shipped'
  | 'tracker done without proof'
  | 'answers differ'
  | 'restart changes the board'
  | 'crash'
  | 'stuck';
export interface Difference {
  kind: Kind;
  text: string;
}

/** What must hold after every step. */
export function compare(model: Model, { workers, tickets }: Answers): Difference[] {
  const differences: Difference[] = [];
  const report = (kind: Kind, text: string): void => void differences.push({ kind, text });
  const verdicts = new Map(
    model.workers().map((verdict) => [`${verdict.run}/${verdict.ticket}`, verdict.isDone]),
  );
  for (const worker of workers) {
    const name = `${worker.run}/${worker.ticket}`;
    const isDone = worker.board === 'done';
    if (isDone && verdicts.get(name)?.isPossible !== true) report('false done', `board: ${name} is done`);
    if (worker.signal === 'done' && verdicts.get(name)?.isPossible !== true)
      report('false done', `signal file: ${name} is done`);
    if (worker.receipt.isShipped && verdicts.get(name)?.isPossible !== true)
      report('false shipped', `receipt of ${name}`);
    const others = {
      why: worker.why,
      receipt: worker.receipt.status,
      ...(worker.signal !== null && { signal: worker.signal }),
    };
    for (const [where, status] of Object.entries(others))
      if ((status === 'done') !== isDone || (where !== 'signal' && status !== worker.board))
        report('answers differ', `${name}: board ${worker.board}, ${where} ${status}`);
    if ((worker.isShippedByWhy ?? isDone) !== isDone)
      report('answers differ', `${name}: board ${worker.board}, why says otherwise`);
    if (worker.receipt.isShipped !== isDone)
      report(
        'answers differ',
        `${name}: board ${worker.board}, receipt ${worker.receipt.isShipped ? 'shipped' : 'not shipped'}`,
      );
  }
  for (const { ticket, receipt, isTrackerDone, others = {} } of tickets) {
    for (const [where, isShipped] of Object.entries(others))
      if (isShipped !== receipt.isShipped)
        report('answers differ', `${ticket}: receipt ${receipt.isShipped}, ${where} ${isShipped}`);
    if (receipt.isShipped && !model.shipped(ticket).isPossible)
      report('false shipped', `receipt of ${ticket} by ${receipt.run ?? 'no run'}`);
    if (isTrackerDone && !model.ticketDone(ticket).isPossible)
      report('tracker done without proof', `${ticket} is in the done state`);
    // The newest run answers for the ticket.
    const newest = workers.find((worker) => worker.ticket === ticket && worker.run === receipt.run);
    if (!isTrackerDone && newest?.board === 'done')
      report('answers differ', `${ticket}: board done, tracker not`);
    if (receipt.isShipped !== (newest?.board === 'done'))
      report('answers differ', `${ticket}: board ${newest?.board ?? 'none'}, receipt of the ticket not`);
  }
  return differences;
}

/** What must hold at the end, after a restart and a poll. */
export function findStuck(model: Model, { workers }: Answers): Difference[] {
  return model.workers().flatMap(({ run, ticket, isDone }) => {
    const worker = workers.find((candidate) => candidate.run === run && candidate.ticket === ticket);
    return isDone.isCertain && worker?.board !== 'done'
      ? [{ kind: 'stuck' as const, text: `${run}/${ticket} is ${worker?.board ?? 'unknown'}, and is proved` }]
      : [];
  });
}

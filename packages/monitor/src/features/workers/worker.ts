// A worker as the fold keeps it: what the API returns, without fields computed for an answer, and with fields that only the
// fold needs.
import type { SignalFile } from '@svc/contract/signal-file';
import type { Spent, Waited } from './agent-fields.ts';
import type { WorkerView } from './entity.ts';
import type { TicketDigest } from './ticket-digest.ts';

type Shown =
  | 'error'
  | 'cost'
  | 'waited'
  | 'attempts'
  | 'budget'
  | 'pullRequest'
  | 'pullRequestKey'
  | 'rule'
  | 'waitsFor'
  | 'until'
  | 'contradictions'
  | 'needs';

export type Worker = Omit<WorkerView, Shown> & {
  /** The last reported signal file, and its hash, by which the watcher knows what the log has. */
  signal: SignalFile | null;
  hash: string | null;
  /**
   * What the first files said: an agent that names a laxer repository later does not loosen the policy, and one that names
   * an earlier start does not get an earlier pull request. The branch stays as it was first, too.
   */
  first: { repo: string | null; startedAt: string | null };
  /** Attention reasons that were raised and whose cause still exists, even if a person resolved the item. */
  raised: string[];
  /** What its agent has of the text of its ticket; null: nothing was given to it. */
  given: TicketDigest | null;
  /** What its agent cost so far. */
  spent: Spent;
  /** How long its agents have waited for people so far. */
  waited: Waited;
  /** The line of the last poll of the code host that found no pull request for its claim. */
  unseenSeq: number | null;
  /** Pairs of commits of which the later one has not the change of the earlier: reverted, or not after it at all. */
  refuted: { pair: string; reverted: boolean }[];
  /** Pairs of commits that were compared for it, `<merge>..<deployed>`, newest last. */
  proofsAsked: string[];
};

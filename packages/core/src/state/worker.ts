// A worker as the log tells it: what its signal file said last, what is believed, and how its merge ships.
import type { DeployWorker } from '../deploy/deploy-worker.ts';
import type { ReactionCause, Reactions } from '../orchestrate/reaction-causes.ts';
import type { SignalFile, WorkerPhase } from '../runs/signal-file.ts';

export type Worker = DeployWorker & {
  /** `<orchestrator>/<ticket>`. */
  key: string;
  orchestrator: string;
  ticket: string;
  name: string;
  statusSince: string;
  /** The line that made the status what it is. */
  statusSeq: number;
  phase: WorkerPhase | null;
  repo: string | null;
  branch: string | null;
  wave: number | null;
  pr: { number: number; url: string | null } | null;
  /** The file as it was told last, and its hash, by which the watcher knows what the log has. */
  signal: SignalFile | null;
  hash: string | null;
  life: {
    state: 'alive' | 'dead' | 'unknown';
    since: string;
    seq: number;
    /** Dead, but a new process is about to be started for it. */
    reviving?: true;
    /** Of a dead one: the last lines of its standard error. */
    stderr?: string;
  };
  corrupt: { path: string; problem: string; seq: number } | null;
  /** The signal file is gone. */
  removed: boolean;
  /** Of its merged commit; null until one was begun. */
  verification: {
    state: 'running' | 'passed' | 'failed';
    sha: string | null;
    summary: string | null;
    /** A failure that blocks nothing. */
    advisory: boolean;
    /** What was filed about a failure; null while nothing was. */
    remediation: string | null;
    seq: number;
  } | null;
  /** When a person last said that it is to be started anew. */
  retriedAt: string | null;
  /** What it was told of its pull request, since its dispatch or since a person said retry. */
  reactions: Reactions;
  /** An agent is to be started for what it was told; null when one was, or when a commit came. */
  recall: { cause: ReactionCause; at: string; seq: number } | null;
  /** Agents that were started for that: they are no revivals. */
  recalls: number;
  /** Reasons for attention whose cause was told and is not gone, even where a person resolved the item. */
  raised: string[];
  /** Deployed commits of which it was asked whether they contain the merge, newest last. */
  proofsAsked: string[];
  lastSeq: number;
  lastAt: string;
};

// Everything that the log tells, folded: pull requests, workers, deploys, tickets, runs, attention, feeds. A
// pure function of the lines: the same lines give the same board, whoever folds them and in how many parts.
// Entities are never changed in place, so that a copy of the maps is a picture of one moment.

import type { ProjectPolicies } from '../deploy/policy.ts';
import type { EventLine } from '../log/event-line.ts';
import type { AttentionItem } from './attention-item.ts';
import type { BoardLinks } from './board-links.ts';
import type { Deployment } from './deployment.ts';
import type { FeedState } from './feed-state.ts';
import type { PullRequest } from './pull-request.ts';
import type { Run } from './run.ts';
import type { Ticket } from './ticket.ts';
import type { Worker } from './worker.ts';

export type Board = {
  /** The last line folded; 0 is none. */
  seq: number;
  at: string | null;
  /** By `<repo in small letters>#<number>`. */
  pullRequests: Map<string, PullRequest>;
  /** By `<orchestrator>/<ticket>`. */
  workers: Map<string, Worker>;
  /** By `<repo in small letters>#<id>`. */
  deployments: Map<string, Deployment>;
  tickets: Map<string, Ticket>;
  runs: Map<string, Run>;
  attention: Map<string, AttentionItem>;
  feeds: Map<string, FeedState>;
  /** By folder: what the projects that are served say about deploys. */
  projects: Map<string, ProjectPolicies & { project: string }>;
  /** Derived from the maps and never stored: who belongs to whom, so that no line has to search. */
  links: BoardLinks;
};

/** The fields of a line that a fold reads. */
export type FoldedLine = Pick<
  EventLine,
  | 'seq'
  | 'ts'
  | 'event'
  | 'source'
  | 'via'
  | 'occurredAt'
  | 'scope'
  | 'detail'
  | 'actor'
  | 'reporter'
  | 'repeatOf'
>;

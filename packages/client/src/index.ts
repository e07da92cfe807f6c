import type { Answer } from './client.ts';

export {
  type Answer,
  type Client,
  type ClientOptions,
  createClient,
  type Fetch,
  type FollowAgentOptions,
  type FollowOptions,
} from './client.ts';
export { ApiFailure } from './failure.ts';
export type { Link } from './follow.ts';
export type { EventLine, Operations } from './operations.ts';

export type Board = Answer<'GET', '/api/board'>;
export type Worker = Board['workers'][number];
export type PullRequest = Board['pullRequests'][number];
export type Deployment = Board['deployments'][number];
export type Ticket = Board['tickets'][number];
export type Run = Board['runs'][number];
export type AttentionItem = Board['attention'][number];
export type Why = Answer<'GET', '/api/workers/{ticket}/why'>;
export type Receipt = Answer<'GET', '/api/workers/{ticket}/receipt'>;
export type Health = Answer<'GET', '/api/health'>;

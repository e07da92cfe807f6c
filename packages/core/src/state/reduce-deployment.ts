// A deployment after one more line of its own. Each state is kept once; the newest by its own time counts,
// and at the same moment the one that comes later in a deployment's life.
import type { DeploymentState } from '../deploy/deploy-worker.ts';
import { flagAt } from '../receive/payload-fields.ts';
import type { FoldedLine } from './board-shape.ts';
import type { Deployment } from './deployment.ts';
import { isOlder, shortTextAt, timeOf } from './line-fields.ts';

const order: Record<DeploymentState, number> = {
  created: 0,
  queued: 1,
  waiting: 1,
  pending: 1,
  in_progress: 2,
  failure: 3,
  error: 3,
  success: 3,
  inactive: 4,
};
const states: ReadonlyMap<string, DeploymentState> = new Map([
  ['codehost.deployment.created', 'created'],
  ...(
    ['pending', 'queued', 'waiting', 'in_progress', 'success', 'failure', 'error', 'inactive'] as const
  ).map((state) => [`codehost.deployment_status.${state}`, state] as const),
]);

export const deploymentTopics: readonly string[] = [...states.keys()];

export function reduceDeployment(known: Deployment | undefined, line: FoldedLine): Deployment | undefined {
  const { scope, detail, seq, via } = line;
  const state = states.get(line.event);
  const { repo, deploymentId: id } = scope;
  const sha = scope.sha ?? known?.sha;
  const environment = scope.environment ?? known?.environment;
  if (state === undefined || repo === undefined || id === undefined) return known;
  if (sha === undefined || environment === undefined) return known;
  const at = timeOf(line);
  const before = known ?? unknownDeployment(repo, id, sha, environment, line);
  const isNewest = known === undefined || isNewer({ state, at }, before);
  const isTold = before.states.some((other) => other.state === state);
  return {
    ...before,
    ref: scope.ref ?? before.ref,
    environment: isNewest ? environment : before.environment,
    production: flagAt(detail, 'productionEnvironment') ?? before.production,
    state: isNewest ? state : before.state,
    stateAt: isNewest ? at : before.stateAt,
    states: isTold ? before.states : [...before.states, { state, at, seq, via }],
    environmentUrl: newestText(detail, 'environmentUrl', before.environmentUrl, isNewest),
    logUrl: newestText(detail, 'logUrl', before.logUrl, isNewest),
    description: newestText(detail, 'description', before.description, isNewest),
    lastSeq: seq,
    lastAt: line.ts,
  };
}

function isNewer(told: { state: DeploymentState; at: string }, before: Deployment): boolean {
  if (isOlder(told.at, before.stateAt)) return false;
  return isOlder(before.stateAt, told.at) || order[told.state] > order[before.state];
}

function newestText(
  detail: FoldedLine['detail'],
  name: string,
  before: string | null,
  isNewest: boolean,
): string | null {
  if (!isNewest && before !== null) return before;
  return shortTextAt(detail, name) ?? before;
}

function unknownDeployment(
  repo: string,
  id: number,
  sha: string,
  environment: string,
  line: FoldedLine,
): Deployment {
  return {
    repo,
    id,
    sha,
    ref: null,
    environment,
    production: null,
    state: 'created',
    stateAt: timeOf(line),
    states: [],
    environmentUrl: null,
    logUrl: null,
    description: null,
    lastSeq: line.seq,
    lastAt: line.ts,
  };
}

// Short constructors of facts, for tests.

import type { DeployPolicy, DeployWorker } from '../../workers/deploy-fields.ts';
import { defaultDeployPolicy } from '../../workers/deploy-fields.ts';
import type { DeploymentState } from '../api.ts';
import type { DeployEffect, DeployFact } from '../deploy-worker.ts';

type Plain<Fact> = Fact extends unknown ? Omit<Fact, 'seq' | 'at'> : never;
/** A fact without its position in the log and its time. */
export type PlainFact = Plain<DeployFact>;

export const verified: DeployPolicy = { ...defaultDeployPolicy, skipDeployVerification: false };
export const skipped: DeployPolicy = defaultDeployPolicy;

export function newWorker(policy: DeployPolicy): DeployWorker {
  return { status: 'dispatched', claim: null, policy, merge: null, deploy: null };
}

/** The time `minutes` after 12:00, when the merges of the tests happen. */
export function minute(minutes: number): string {
  return new Date(Date.UTC(2026, 2, 1, 12, 0) + minutes * 60_000).toISOString();
}

export const merged = (sha: string | null = 'merge'): PlainFact => ({ kind: 'merged', sha });
export const deployment = (
  id: number,
  state: DeploymentState,
  sha = 'merge',
  environment = 'production',
  task: string | null = 'deploy',
): PlainFact => ({ kind: 'deployment', id, state, sha, environment, task });
export const contains = (sha: string): PlainFact => ({ kind: 'contains', sha });
export const claimed = (status: DeployWorker['status']): PlainFact => ({ kind: 'claimed', status });
export const retry: PlainFact = { kind: 'person', action: 'retry', by: 'ada' };
export const accept: PlainFact = { kind: 'person', action: 'accept', by: 'ada' };
export const time: PlainFact = { kind: 'time' };

/** An effect as text: `raise deploy-timeout high`. */
export function effectText(effect: DeployEffect): string {
  switch (effect.kind) {
    case 'raise':
      return `raise ${effect.reason} ${effect.severity}`;
    case 'resolve':
      return `resolve ${effect.reason}`;
    case 'report':
      return `report ${effect.topic}`;
    case 'prove':
      return effect.base === 'merge' ? `prove ${effect.sha}` : `prove ${effect.sha} from ${effect.base}`;
    case 'move-ticket':
      return `move-ticket ${effect.phase}`;
    case 'write-signal':
    case 'refresh-pull-request':
      return effect.kind;
  }
}

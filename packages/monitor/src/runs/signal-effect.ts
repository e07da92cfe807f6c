// Carries out what the lifecycle wants in a worker's signal file. Doing it twice, late, or after the worker has
// written something else is harmless: a later word in the file is not taken back.
import { type DeployProgress, type Effect, type SignalFile, writableOver } from '@svc/core';
import type { SignalStore } from './signal-store.ts';

export type WriteSignalEffect = Extract<Effect, { kind: 'write-signal' }>;

export type SignalOutcome =
  | { outcome: 'written' | 'already' | 'missing' }
  /** The file stands where this write would take something back. */
  | { outcome: 'not-overwritten'; status: SignalFile['status'] }
  | { outcome: 'corrupt'; path: string; problem: string };

export async function applySignalEffect(
  store: Pick<SignalStore, 'update'>,
  effect: WriteSignalEffect,
): Promise<SignalOutcome> {
  let refusedBy: SignalFile['status'] | undefined;
  const result = await store.update(effect.orchestrator, effect.ticket, (signal) => {
    if (writableOver(signal, effect)) return withEffect(signal, effect);
    refusedBy = signal.status;
    return null;
  });
  if (!result.ok) {
    if (result.why === 'missing') return { outcome: 'missing' };
    return { outcome: 'corrupt', path: result.path, problem: result.problem };
  }
  if (refusedBy !== undefined) return { outcome: 'not-overwritten', status: refusedBy };
  return { outcome: result.changed ? 'written' : 'already' };
}

/** Fields that the effect does not name stay, at every depth. */
function withEffect(signal: SignalFile, { status, pr, deploy }: WriteSignalEffect): SignalFile {
  return {
    ...signal,
    status,
    ...(pr && { pr: { ...signal.pr, ...defined(pr) } }),
    ...(deploy && { deploy: { ...signal.deploy, ...deployFields(deploy, signal) } }),
  };
}

/** What the file tells of a deploy; how it was proven is in the log. */
function deployFields(deploy: DeployProgress, signal: SignalFile) {
  const { environment, deploymentId, startedAt, deadline, completedAt, result, retried } = deploy;
  const before = new Map(signal.deploy?.attempts?.map((attempt) => [attempt.deploymentId, attempt]));
  const attempts = deploy.attempts.map((attempt) => ({
    ...before.get(attempt.deploymentId),
    ...defined(attempt),
  }));
  return defined({
    environment,
    deploymentId,
    attempts,
    startedAt,
    deadline,
    completedAt,
    result,
    retried,
  });
}

function defined<Values extends object>(values: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Values;
}

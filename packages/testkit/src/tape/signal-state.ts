// What stands in a signal file after a change of the worker, and after the daemon's own writes.
import { createHash } from 'node:crypto';
import { canonicalJson, type DeployProgress, type Effect, type SignalFile, writableOver } from '@svc/core';
import type { SignalPatch } from './fact.ts';

export function patchedSignal(before: SignalFile | undefined, patch: SignalPatch): SignalFile {
  const { pr, phaseTimestamps, ...rest } = patch;
  return {
    ...before,
    ...rest,
    ...(pr !== undefined && { pr: { ...before?.pr, ...pr } }),
    phaseTimestamps: { ...before?.phaseTimestamps, ...phaseTimestamps },
  } as SignalFile;
}

/** The content that the log knows a file by: a sign of life alone is no change. */
export function hashOf({ updatedAt: _, ...signal }: SignalFile): string {
  return createHash('sha256').update(canonicalJson(signal)).digest('hex');
}

/** As the daemon writes it; undefined when the file stands where that would take something back. */
export function writtenSignal(
  signal: SignalFile,
  effect: Extract<Effect, { kind: 'write-signal' }>,
): SignalFile | undefined {
  if (!writableOver(signal, effect)) return undefined;
  const { status, pr, deploy } = effect;
  return {
    ...signal,
    status,
    ...(pr && { pr: { ...signal.pr, ...pr } }),
    ...(deploy && { deploy: { ...signal.deploy, ...deployFields(deploy) } }),
  };
}

function deployFields(deploy: DeployProgress) {
  const { environment, deploymentId, attempts, startedAt, deadline, completedAt, result, retried } = deploy;
  return {
    environment,
    deploymentId,
    attempts,
    startedAt,
    deadline,
    completedAt,
    result,
    ...(retried && { retried }),
  };
}

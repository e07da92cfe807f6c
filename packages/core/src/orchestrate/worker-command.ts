// The rule for the skill that a worker session runs. Used by the configuration and by dispatch.

export const workerCommandPattern = /^\/[a-z0-9][a-z0-9_-]*:[a-z0-9][a-z0-9_-]*$/i;
export const DEFAULT_WORKER_COMMAND = '/svc-dev:oneshot';
export const workerCommandForm = `/<plugin>:<skill>, for example ${DEFAULT_WORKER_COMMAND}`;

const LONGEST_SHOWN = 80;

export type CheckedWorkerCommand = { ok: true; command: string } | { ok: false; problem: string };

/** `checkWorkerCommand('/oneshot')` is rejected: without a plugin name, the first plugin that has it would run. */
export function checkWorkerCommand(text: string): CheckedWorkerCommand {
  if (workerCommandPattern.test(text)) return { ok: true, command: text };
  const shown = JSON.stringify(text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text);
  return { ok: false, problem: `The worker command ${shown} must have the form ${workerCommandForm}.` };
}

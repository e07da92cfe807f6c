// The one rule for the skill that a worker session runs. The configuration and dispatch both ask here.

export const workerCommandPattern = /^\/[a-z0-9][a-z0-9_-]*:[a-z0-9][a-z0-9_-]*$/i;
export const DEFAULT_WORKER_COMMAND = '/svc-dev:oneshot';
export const workerCommandForm = `/<plugin>:<skill>, for example ${DEFAULT_WORKER_COMMAND}`;

const LONGEST_SHOWN = 80;

export type CheckedWorkerCommand = { ok: true; command: string } | { ok: false; problem: string };

/** `checkWorkerCommand('/oneshot')` is refused: a bare form would run whatever plugin comes first. */
export function checkWorkerCommand(text: string): CheckedWorkerCommand {
  if (workerCommandPattern.test(text)) return { ok: true, command: text };
  const shown = JSON.stringify(text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text);
  return { ok: false, problem: `The worker command ${shown} is not of the form ${workerCommandForm}.` };
}

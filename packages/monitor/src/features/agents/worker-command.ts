// The rule for the skill that a worker session runs. Used by the configuration and by dispatch.

export const workerCommandPattern = /^\/[a-z0-9][a-z0-9_-]*:[a-z0-9][a-z0-9_-]*$/i;
export const DEFAULT_WORKER_COMMAND = '/svc-dev:oneshot';
/** The plugin that svc ships; `svc skills install` installs it. */
export const OWN_PLUGIN = 'svc-dev';
export const workerCommandForm = `/<plugin>:<skill>, for example ${DEFAULT_WORKER_COMMAND}`;

const LONGEST_SHOWN = 80;

export type CheckedWorkerCommand = { ok: true; command: string } | { ok: false; problem: string };

/** `checkWorkerCommand('/oneshot')` is rejected: without a plugin name, the first plugin that has it would run. */
export function checkWorkerCommand(text: string): CheckedWorkerCommand {
  if (workerCommandPattern.test(text)) return { ok: true, command: text };
  const shown = JSON.stringify(text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text);
  return { ok: false, problem: `The worker command ${shown} must have the form ${workerCommandForm}.` };
}

/** `commandParts('/svc-dev:oneshot')` is `{ plugin: 'svc-dev', skill: 'oneshot' }`. */
export function commandParts(command: string): { plugin: string; skill: string } {
  const [plugin = '', skill = ''] = command.slice(1).split(':');
  return { plugin, skill };
}

/** The text of a skill as a prompt about one ticket. */
export function skillPrompt(text: string, ticket: string): string {
  return text
    .replace(/^---\n[^]*?\n---\n/, '')
    .replaceAll('$ARGUMENTS', () => ticket)
    .trim();
}

/**
 * The command in a remedy, and what is said beside it: `Run: svc doctor, and restart the daemon` is
 * `svc doctor` and `and restart the daemon`. A remedy in words has no command.
 */
export function remedyCommand(remedy: string): { command: string; beside: string | null } | null {
  const said = /^Run: (.+)$/s.exec(remedy)?.[1] ?? (/^(svc|gh|git|[\w-]+\.sh) /.test(remedy) ? remedy : null);
  if (said === null) return null;
  const [, command = said, beside = ''] = /^(.+?)(?:, |\s+(?=\())(.+)$/s.exec(said) ?? [];
  return { command, beside: beside === '' ? null : beside };
}

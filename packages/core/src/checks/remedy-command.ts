/**
 * Splits a fix into its command and the rest: `Run: svc doctor, and restart the daemon` is `svc doctor` and
 * `and restart the daemon`. Null for a fix without a command.
 */
export function remedyCommand(remedy: string): { command: string; beside: string | null } | null {
  const text =
    /^Run: (.+)$/s.exec(remedy)?.[1] ?? (/^(svc|gh|git|npm|[\w-]+\.sh) /.test(remedy) ? remedy : null);
  if (text === null) return null;
  const [, command = text, beside = ''] = /^(.+?)(?:, |\.\s+(?=[A-Z])|\s+(?=\())(.+)$/s.exec(text) ?? [];
  return { command, beside: beside === '' ? null : beside };
}

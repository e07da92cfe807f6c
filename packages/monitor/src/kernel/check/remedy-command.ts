// The commands in the texts that say how to fix something.

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

/** What a member of a team may do on another machine: these commands take `--machine`. */
const forMachine =
  /\bsvc (?:agent answer \S*[^\s.,;:)](?: (?:allow|reject)\b)?|(?:agent send|deploy retry|orchestrate pause|attention ack) \S*[^\s.,;:)])/g;

/** The command in a fix, for another machine of the team: without the text around it, which may name a folder. */
export function commandToShare(remedy: string): string {
  return new RegExp(`${forMachine.source}(?: \\(or reject\\))?`).exec(remedy)?.[0] ?? remedy;
}

/** The fix that another machine of the team names, as it is typed on this one. `there`: its command works only there. */
export function remedyOnMachine(remedy: string, machine: string): { text: string; there: boolean } {
  const name = /^[\w.-]+$/.test(machine) ? machine : `'${machine.replaceAll("'", String.raw`'\''`)}'`;
  const text = remedy.replaceAll(forMachine, (command) => `${command} --machine ${name}`);
  return { text, there: text === remedy && remedyCommand(remedy) !== null };
}

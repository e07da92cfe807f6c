import { CopyButton } from './button.tsx';

/**
 * Splits a fix into its command and the rest: `Run: svc doctor, and restart the daemon` is `svc doctor` and
 * `and restart the daemon`. Null for a fix without a command.
 */
export function remedyCommand(remedy: string): { command: string; beside: string | null } | null {
  const text = /^Run: (.+)$/s.exec(remedy)?.[1] ?? (/^(svc|gh|git|[\w-]+\.sh) /.test(remedy) ? remedy : null);
  if (text === null) return null;
  const [, command = text, beside = ''] = /^(.+?)(?:, |\s+(?=\())(.+)$/s.exec(text) ?? [];
  return { command, beside: beside === '' ? null : beside };
}

/** How to fix it: as text, or as a command that can be copied. */
export function Remedy({ text }: { text: string | null | undefined }) {
  if (text === null || text === undefined || text === '') return null;
  const found = remedyCommand(text);
  if (found === null) return <p className="text-small text-muted">{text}</p>;
  const { command, beside } = found;
  return (
    <span className="flex max-w-full min-w-0 flex-wrap items-center gap-x-1">
      <code
        className="min-w-0 truncate rounded-control bg-sunken px-2 py-1 text-tiny text-text"
        title={command}
      >
        {command}
      </code>
      <CopyButton text={command} label="Copy command" />
      {beside !== null && <span className="text-small text-muted">{beside}</span>}
    </span>
  );
}

import { remedyCommand } from 'svc-monitor/src/kernel/check/remedy-command.ts';
import { shownText } from './agent-text.tsx';
import { CopyButton } from './button.tsx';

/** How to fix it: as text, or as a command that can be copied. */
export function Remedy({ text }: { text: string | null | undefined }) {
  if (text === null || text === undefined || text === '') return null;
  // The copied command is the one that is shown.
  const shown = shownText(text);
  const found = remedyCommand(shown);
  if (found === null) return <p className="min-w-0 wrap-anywhere text-small text-muted">{shown}</p>;
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
      {beside !== null && <span className="min-w-0 wrap-anywhere text-small text-muted">{beside}</span>}
    </span>
  );
}

// What a command needs to ask the tracker.
import { runCommand } from '@svc/lib/process';
import type { Terminal } from '../../../cli/kit/terminal.ts';
import type { Machine } from '../../../kernel/config/environment.ts';
import { createGh } from '../../codehost/gh.ts';
import type { TrackerMeans } from '../io/open-tracker.ts';

export function trackerMeans(terminal: Terminal, { trackerApiUrl: apiUrl }: Machine): TrackerMeans {
  const { environment, interrupted: signal } = terminal;
  const now = (): number => terminal.now().getTime();
  return {
    apiUrl,
    fetch,
    clock: { now },
    signal,
    gh: () => createGh({ environment, run: runCommand, now, signal }),
  };
}

// The workflow context of the worktree; made where it is missing.
import type { SetupFinding } from '@svc/core';
import { createContextStore } from '../../context/context-store.ts';
import { worktreeRoot } from '../../context/worktree-root.ts';
import type { Session } from '../session.ts';
import type { Terminal } from '../terminal.ts';

export async function checkContext(terminal: Terminal, { locks }: Session): Promise<SetupFinding> {
  const root = worktreeRoot(terminal.folder);
  const store = createContextStore({ root, locks, now: terminal.now });
  const present = await store.read();
  const { currentTicket } = present ?? (await store.change((context) => context));
  const words = currentTicket === null ? 'no ticket yet' : `ticket ${currentTicket}`;
  const found = `${store.file}${present === undefined ? ', made now' : ''}, ${words}`;
  return { check: 'workflow-context', level: 'ok', found };
}

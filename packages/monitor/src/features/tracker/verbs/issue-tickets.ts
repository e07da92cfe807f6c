// The tickets of issues, for a project whose tickets are issues: `#12` and the address of an issue are `GH-12`.

import { openSession } from '../../../cli/kit/session.ts';
import type { Terminal } from '../../../cli/kit/terminal.ts';
import { Failure } from '../../../kernel/failure.ts';
import { loadProjects } from '../../configure.ts';
import { ticketWritten } from '../tracker-of.ts';

/** The project of the current folder goes first. */
export async function ticketsOfIssues(terminal: Terminal): Promise<(word: string) => string> {
  const { machine } = openSession(terminal);
  const { configs, started } = await loadProjects(machine, terminal.environment, terminal.folder);
  return (word) => {
    const ticket = ticketWritten(word, [started.usable]) ?? ticketWritten(word, configs);
    if (ticket !== undefined) return ticket;
    throw new Failure(
      'usage',
      `${word.slice(0, 200)} is not an issue of a project whose tickets are issues.`,
      'Name the ticket, such as GH-12, or run this in its project.',
    );
  };
}

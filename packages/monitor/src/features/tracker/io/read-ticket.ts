// The one reader of a ticket's text: for agents, the verifier, the command line, the dashboard and MCP. A ticket belongs to
// the first provider that has it; the issue tracker of the project is one of them.

import { Failure } from '../../../kernel/failure.ts';
import type { Config } from '../../config.ts';
import { numberedTicket } from '../dependencies.ts';
import { type TicketContent, ticketFrom, type WrittenTicket } from '../ticket-text.ts';
import { trackerOf } from '../tracker-of.ts';
import type { Tracker } from './tracker.ts';

/** Where tickets are written. Each function rejects with what happened and the fix. */
export type TicketProvider = {
  has: (config: Config, ticket: string) => boolean;
  /** Undefined: there is no such ticket. */
  read: (config: Config, ticket: string) => Promise<WrittenTicket | undefined>;
  /** Those that do not exist. */
  unknown: (config: Config, tickets: readonly string[]) => Promise<string[]>;
};

type TicketProblem = { problem: string; remedy: string };

export type TicketReader = {
  /** Null: the project has no tracker that can be asked. Rejects with the fix: an unread ticket is never an empty one. */
  read: (config: Config, ticket: string) => Promise<TicketContent | null>;
  /** What keeps these tickets from being worked on: they do not exist, or nobody can tell. */
  findMissing: (config: Config, tickets: readonly string[]) => Promise<TicketProblem[]>;
};

export function createTicketReader(providers: readonly TicketProvider[]): TicketReader {
  const providerOf = (config: Config, ticket: string) => providers.find(({ has }) => has(config, ticket));
  return {
    async read(config, ticket) {
      const provider = providerOf(config, ticket);
      if (provider === undefined) return null;
      const written = await provider.read(config, ticket);
      if (written === undefined) throw unknownTicket(ticket);
      return ticketFrom(ticket, written);
    },
    async findMissing(config, tickets) {
      const problems: TicketProblem[] = [];
      for (const provider of providers) {
        const own = tickets.filter((ticket) => providerOf(config, ticket) === provider);
        if (own.length === 0) continue;
        try {
          for (const ticket of await provider.unknown(config, own))
            problems.push(asProblem(unknownTicket(ticket)));
        } catch (error) {
          if (!(error instanceof Failure)) throw error;
          problems.push(asProblem(error));
        }
      }
      return problems;
    },
  };
}

function unknownTicket(ticket: string): Failure {
  return new Failure(
    'unknown-ticket',
    `The issue tracker has no ticket ${ticket}, or the login that svc uses cannot see it.`,
    'Check its name: svc ticket list shows the open tickets. For a task without a ticket: svc run "<text>"',
  );
}

function asProblem({ message, remedy }: Failure): TicketProblem {
  return { problem: message, remedy: remedy ?? '' };
}

/** The issue tracker of a project. Without its settings, such as the token, there is none that could be asked. */
export function trackerTickets(open: (config: Config) => Tracker): TicketProvider {
  return {
    has: (config) => trackerOf(config).provider !== undefined,
    read: async (config, ticket) => open(config).issueText(ticket),
    async unknown(config, tickets) {
      const tracker = open(config);
      const known = new Set<string>();
      for (const [team, numbers] of byTeam(tickets))
        for (const { identifier } of await tracker.issueBlockers(team, numbers))
          known.add(identifier.toUpperCase());
      return tickets.filter((ticket) => !known.has(ticket.toUpperCase()));
    },
  };
}

/** A name that is none of the tracker's is in no team. */
function byTeam(tickets: readonly string[]): Map<string, number[]> {
  const teams = new Map<string, number[]>();
  for (const ticket of tickets) {
    const numbered = numberedTicket(ticket);
    if (numbered !== undefined)
      teams.set(numbered.team, [...(teams.get(numbered.team) ?? []), numbered.number]);
  }
  return teams;
}

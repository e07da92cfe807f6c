// svc ticket show, svc ticket list, svc ticket phase
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Answer } from '@svc/client';
import { needDaemon } from '../../../cli/kit/daemon.ts';
import { connectDaemon } from '../../../cli/kit/daemon-client.ts';
import { routeVerb } from '../../../cli/kit/route-verb.ts';
import { openSession, type Session } from '../../../cli/kit/session.ts';
import { AnswerIsNo, printJson, printTable, type Terminal } from '../../../cli/kit/terminal.ts';
import { plainText } from '../../../cli/kit/text.ts';
import { verb, verbGroup } from '../../../cli/kit/verb.ts';
import { worktreeRoot } from '../../../kernel/disk/git-folder.ts';
import { Failure } from '../../../kernel/failure.ts';
import { leaveInSpool } from '../../../kernel/log/spool.ts';
import { createContextStore } from '../../context/io/context-store.ts';
import { openTickets } from '../dependencies.ts';
import { phaseNamed } from '../ticket-phase.ts';
import { ticketPhases } from '../ticket-phases.ts';
import { renderTicket, shownBounds } from '../ticket-text.ts';
import { ticketWritten } from '../tracker-of.ts';

type PhaseAnswer = Answer<'POST', '/api/tickets/{ticket}/phase'>;

export function ticketVerbs(terminal: Terminal): CommandUnknownOpts {
  return verbGroup(
    'ticket',
    {
      summary: 'Show a ticket, list open ones, report a phase',
      example: 'svc ticket phase inReview ABC-12',
    },
    [showVerb(terminal), listVerb(terminal), phaseVerb(terminal)],
  );
}

function showVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('show', {
    summary: 'Show the text of a ticket, as the tracker has it now',
    details: `Title, description, acceptance criteria, labels, links and the newest ${shownBounds.comments} comments. What is too long to show is named.`,
    example: 'svc ticket show ABC-12',
    route: 'GET /api/tickets/:ticket',
  })
    .argument('[ticket]', 'ticket (default: the current ticket of this worktree)')
    .option('--json', 'print JSON')
    .action(async (given, { json }) => {
      const ticket = await ticketAsked(terminal, openSession(terminal), given, 'svc ticket show');
      const daemon = await needDaemon(terminal);
      const content = await daemon.get('/api/tickets/{ticket}', { params: { ticket } });
      if (json) return printJson(terminal, content);
      terminal.out(`${plainText(content.ticket)}\n\n${renderTicket(content)}`);
    });
}

const listVerb = routeVerb('list', 'GET /api/board', {
  summary: 'List open tickets that are in no run, newest first',
  details: 'Tickets are known from deliveries and polls of the tracker. Start one: svc orchestrate start',
  example: 'svc ticket list',
  json: (board) => ({ tickets: openTickets(board) }),
  print: (terminal, board) => {
    const tickets = openTickets(board);
    if (tickets.length === 0)
      terminal.out('No open ticket is known. Deliveries and polls of the tracker add them.');
    printTable(
      terminal,
      tickets.map(({ ticket, state, assignee, title, dispatch }) => [
        plainText(ticket),
        plainText(state?.name ?? 'unknown state'),
        plainText(assignee ?? 'nobody'),
        plainText(title ?? ''),
        typeof dispatch?.reason === 'string' ? plainText(`no run: ${dispatch.reason}`) : '',
      ]),
    );
  },
});

function phaseVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('phase', {
    summary: 'Report the phase of a ticket; its tracker state follows',
    details: `Phases: ${ticketPhases.join(', ')}. svc.tracker.stateMap maps them to states of the tracker.`,
    example: ['svc ticket phase inReview ABC-12', 'svc ticket phase create-plan'],
    route: 'POST /api/tickets/:ticket/phase',
  })
    .argument('<phase>', 'phase, or the skill that starts it')
    .argument('[ticket]', 'ticket (default: the current ticket of this worktree)')
    .option('--json', 'print JSON')
    .action(async (text, given, options) => {
      const named = phaseNamed(text);
      if (!named.ok) throw new Failure('usage', `${upper(named.problem)}.`.replace(/\?\.$/, '?'));
      const session = openSession(terminal);
      const ticket = await ticketAsked(terminal, session, given, 'svc ticket phase <phase>');
      const daemon = await connectDaemon(session.machine);
      const answer = daemon
        ? await daemon.post('/api/tickets/{ticket}/phase', {
            params: { ticket },
            body: { phase: text, orchestrator: runOf(terminal, ticket) },
          })
        : await leaveForDaemon(terminal, session, { ticket, ...named });
      if (options.json) printJson(terminal, answer);
      else terminal.out(sentence(answer));
      if (answer.remedy !== null) terminal.err(answer.remedy);
      // Nothing was moved, because something has to be set up first.
      if (answer.outcome === 'skipped' && answer.remedy !== null) throw new AnswerIsNo();
    });
}

/** The run, if this is its worker for the ticket: the phase is its status too. */
function runOf({ environment }: Terminal, ticket: string): string | undefined {
  return environment['SVC_TICKET']?.toUpperCase() === ticket ? environment['SVC_ORCHESTRATOR'] : undefined;
}

async function leaveForDaemon(
  terminal: Terminal,
  { machine }: Session,
  { ticket, phase, skill }: { ticket: string; phase: string; skill: string | undefined },
): Promise<PhaseAnswer> {
  const orchestrator = runOf(terminal, ticket);
  await leaveInSpool({
    folder: machine.spoolDir,
    draft: {
      event: 'workflow.ticket.phase_changed',
      source: 'cli',
      via: 'local',
      scope: { ticket, ...(orchestrator !== undefined && { orchestrator }) },
      detail: { to: phase, ...(skill !== undefined && { skill }) },
    },
    now: terminal.now().getTime(),
    random: crypto.randomUUID(),
  });
  const why = 'the daemon is not running, and moves the ticket when it starts (svc monitor start)';
  return { ticket, phase, outcome: 'pending', from: null, to: null, why, remedy: null };
}

function sentence({ ticket, phase, outcome, from, to, why }: PhaseAnswer): string {
  switch (outcome) {
    case 'moved':
      return `${ticket} was moved from ${plain(from)} to ${plain(to)}.`;
    case 'already':
      return `${ticket} is already in ${plain(to)}; nothing was moved.`;
    case 'skipped':
      return `${ticket} was not moved: ${plain(why)}.`;
    case 'held':
      return `${ticket} is not moved to its done state yet: ${plain(why)}. svc moves it once the deployment is verified (svc why ${ticket}).`;
    case 'pending':
      return `${ticket} was reported as ${phase} but not moved yet: ${plain(why).replace(/\.$/, '')}.`;
  }
}

async function ticketAsked(
  terminal: Terminal,
  { locks }: Session,
  given: string | undefined,
  command: string,
): Promise<string> {
  if (given !== undefined) return ticketGiven(given);
  const root = await worktreeRoot(terminal.folder);
  const context = await createContextStore({ root, locks, now: terminal.now }).read();
  if (typeof context?.currentTicket === 'string') return ticketGiven(context.currentTicket);
  throw new Failure(
    'usage',
    `No ticket was given, and the workflow context of ${root} has none.`,
    `Pass one: ${command} <ticket>, or set one: svc context set-ticket <ticket>`,
  );
}

function ticketGiven(text: string): string {
  const ticket = ticketWritten(text);
  if (ticket !== undefined) return ticket;
  throw new Failure('usage', `Expected a ticket like ABC-12, found ${JSON.stringify(text.slice(0, 60))}.`);
}

/** State names come from the tracker and must not control the terminal. */
function plain(text: string | null): string {
  return (text ?? 'an unknown state').replaceAll(/\p{Cc}/gu, '?');
}

function upper(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

// svc context init | set-ticket | set-orchestration | add | recent | most-recent | ticket
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import {
  DocumentType,
  documentsOf,
  documentTypes,
  withDocument,
  withOrchestration,
  withTicket,
} from '@svc/core';
import { type ContextStore, createContextStore } from '../../context/context-store.ts';
import { worktreeRoot } from '../../context/worktree-root.ts';
import { Failure } from '../../errors.ts';
import { openSession } from '../session.ts';
import { AnswerIsNo, printJson, type Terminal } from '../terminal.ts';
import { verb, verbGroup } from '../verb.ts';

export function contextVerbs(terminal: Terminal): CommandUnknownOpts {
  const store = (): ContextStore => {
    const { locks } = openSession(terminal);
    return createContextStore({ root: worktreeRoot(terminal.folder), locks, now: terminal.now });
  };
  return verbGroup(
    'context',
    {
      summary: 'The workflow context of this worktree: its ticket and documents',
      example: 'svc context ticket ABC-123',
    },
    [
      initVerb(terminal, store),
      setTicketVerb(terminal, store),
      setOrchestrationVerb(terminal, store),
      addVerb(terminal, store),
      recentVerb(terminal, store),
      mostRecentVerb(terminal, store),
      ticketVerb(terminal, store),
    ],
  );
}

type OpenStore = () => ContextStore;

function initVerb(terminal: Terminal, open: OpenStore): CommandUnknownOpts {
  return verb('init', {
    summary: 'Make the context file, with the ticket from the worktree name; one that is there stays',
    example: 'workflow-context.sh init',
  }).action(async () => {
    const store = open();
    if (!(await store.read())) await store.change((context) => context);
    terminal.out(store.file);
  });
}

function setTicketVerb(terminal: Terminal, open: OpenStore): CommandUnknownOpts {
  return verb('set-ticket', {
    summary: 'Set the active ticket of this worktree',
    example: 'workflow-context.sh set-ticket ABC-123',
  })
    .argument('<id>', 'the ticket, or null for none')
    .action(async (id) => {
      const { currentTicket } = await open().change((context, now) => withTicket(context, now, orNull(id)));
      terminal.out(`currentTicket is ${currentTicket ?? 'null'}`);
    });
}

function setOrchestrationVerb(terminal: Terminal, open: OpenStore): CommandUnknownOpts {
  return verb('set-orchestration', {
    summary: 'Set the orchestration run that this worktree belongs to',
    example: 'workflow-context.sh set-orchestration spring-cleaning',
  })
    .argument('<name>', 'the run, or null for none')
    .action(async (name) => {
      const { orchestration } = await open().change((context, now) =>
        withOrchestration(context, now, orNull(name)),
      );
      terminal.out(`orchestration is ${orchestration ?? 'null'}`);
    });
}

function addVerb(terminal: Terminal, open: OpenStore): CommandUnknownOpts {
  return verb('add', {
    summary: 'Record a document, newest first',
    example: 'workflow-context.sh add plans thoughts/shared/plans/login.md ABC-123',
  })
    .argument('<type>', documentTypes.join(', '))
    .argument('<path>')
    .argument('[ticket]', 'the ticket, or null for none (default: the current ticket)')
    .action(async (typeText, path, ticket) => {
      const type = documentType(typeText);
      await open().change((context, now) =>
        withDocument(context, now, type, path, ticket === undefined ? context.currentTicket : orNull(ticket)),
      );
      terminal.out(`${path} is added to ${type}`);
    });
}

function recentVerb(terminal: Terminal, open: OpenStore): CommandUnknownOpts {
  return verb('recent', {
    summary: 'Path of the newest document of a type; exit 1 when there is none',
    example: 'workflow-context.sh recent research',
  })
    .argument('<type>', documentTypes.join(', '))
    .option('--json', 'print the entry as JSON')
    .action(async (typeText, options) => {
      const type = documentType(typeText);
      printEntry(terminal, (await open().read())?.workflow[type][0], options.json);
    });
}

function mostRecentVerb(terminal: Terminal, open: OpenStore): CommandUnknownOpts {
  return verb('most-recent', {
    summary: 'Path of the newest document of any type; exit 1 when there is none',
    example: 'workflow-context.sh most-recent --json',
  })
    .option('--json', 'print the entry as JSON')
    .action(async (options) => {
      printEntry(terminal, (await open().read())?.mostRecentDocument ?? undefined, options.json);
    });
}

function ticketVerb(terminal: Terminal, open: OpenStore): CommandUnknownOpts {
  return verb('ticket', {
    summary: 'The documents of a ticket, by type, as JSON; exit 1 when there are none',
    example: 'workflow-context.sh ticket ABC-123',
  })
    .argument('<id>')
    .action(async (id) => {
      const context = await open().read();
      const documents = context && documentsOf(context, id);
      if (documents === undefined || documentTypes.every((type) => documents[type].length === 0))
        throw new AnswerIsNo();
      printJson(terminal, documents);
    });
}

function printEntry(terminal: Terminal, entry: { path: string } | undefined, json: true | undefined): void {
  if (entry === undefined) throw new AnswerIsNo();
  if (json) printJson(terminal, entry);
  else terminal.out(entry.path);
}

function documentType(text: string): DocumentType {
  const parsed = DocumentType.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new Failure('usage', `There is no document type ${text}; it is one of ${documentTypes.join(', ')}.`);
}

/** On a command line no ticket is written `null`; in the file it is null, not the string. */
function orNull(text: string): string | null {
  return text === 'null' || text === '' ? null : text;
}

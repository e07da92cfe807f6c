// svc context init | set-ticket | set-orchestration | add | recent | most-recent | ticket
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { openSession, warnOfStrayFolder } from '../../cli/kit/session.ts';
import { AnswerIsNo, printJson, type Terminal } from '../../cli/kit/terminal.ts';
import { verb, verbGroup } from '../../cli/kit/verb.ts';
import { worktreeRoot } from '../../kernel/disk/git-folder.ts';
import { Failure } from '../../kernel/failure.ts';
import { type ContextStore, createContextStore } from './io/context-store.ts';
import {
  DocumentType,
  documentsOf,
  documentTypes,
  withDocument,
  withOrchestration,
  withTicket,
} from './workflow-context.ts';

export function contextVerbs(terminal: Terminal): CommandUnknownOpts {
  const store = async (): Promise<ContextStore> => {
    const { locks } = openSession(terminal);
    const root = await worktreeRoot(terminal.folder);
    const opened = createContextStore({ root, locks, now: terminal.now });
    const change: ContextStore['change'] = async (next) => {
      await warnOfStrayFolder(terminal, opened.file);
      return opened.change(next);
    };
    return { ...opened, change };
  };
  return verbGroup(
    'context',
    {
      summary: 'Show and set the ticket and documents of this worktree',
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

type OpenStore = () => Promise<ContextStore>;

function initVerb(terminal: Terminal, open: OpenStore): CommandUnknownOpts {
  return verb('init', {
    summary: 'Create the context file unless it exists',
    details: 'The ticket is taken from the name of the worktree.',
    example: 'svc context init',
  }).action(async () => {
    const store = await open();
    if (!(await store.read())) await store.change((context) => context);
    terminal.out(store.file);
  });
}

function setTicketVerb(terminal: Terminal, open: OpenStore): CommandUnknownOpts {
  return verb('set-ticket', {
    summary: 'Set the active ticket of this worktree',
    example: 'svc context set-ticket ABC-123',
  })
    .argument('<id>', 'ticket, or null for none')
    .action(async (id) => {
      const { currentTicket } = await (await open()).change((context, now) =>
        withTicket(context, now, orNull(id)),
      );
      terminal.out(`currentTicket is ${currentTicket ?? 'null'}`);
    });
}

function setOrchestrationVerb(terminal: Terminal, open: OpenStore): CommandUnknownOpts {
  return verb('set-orchestration', {
    summary: 'Set the run that this worktree belongs to',
    example: 'svc context set-orchestration spring-cleaning',
  })
    .argument('<name>', 'run, or null for none')
    .action(async (name) => {
      const { orchestration } = await (await open()).change((context, now) =>
        withOrchestration(context, now, orNull(name)),
      );
      terminal.out(`orchestration is ${orchestration ?? 'null'}`);
    });
}

function addVerb(terminal: Terminal, open: OpenStore): CommandUnknownOpts {
  return verb('add', {
    summary: 'Record a document as the newest of its type',
    example: 'svc context add plans thoughts/shared/plans/login.md ABC-1',
  })
    .argument('<type>', documentTypes.join(', '))
    .argument('<path>', 'path of the document')
    .argument('[ticket]', 'ticket, or null for none (default: the current one)')
    .action(async (typeText, path, ticket) => {
      const type = documentType(typeText);
      await (await open()).change((context, now) =>
        withDocument(context, now, type, path, ticket === undefined ? context.currentTicket : orNull(ticket)),
      );
      terminal.out(`${path} is added to ${type}`);
    });
}

function recentVerb(terminal: Terminal, open: OpenStore): CommandUnknownOpts {
  return verb('recent', {
    summary: 'Print the path of the newest document of a type',
    details: 'Exit code 1 when there is none.',
    example: 'svc context recent research',
  })
    .argument('<type>', documentTypes.join(', '))
    .option('--json', 'print the entry as JSON')
    .action(async (typeText, options) => {
      const type = documentType(typeText);
      printEntry(terminal, (await (await open()).read())?.workflow[type][0], options.json);
    });
}

function mostRecentVerb(terminal: Terminal, open: OpenStore): CommandUnknownOpts {
  return verb('most-recent', {
    summary: 'Print the path of the newest document of any type',
    details: 'Exit code 1 when there is none.',
    example: 'svc context most-recent --json',
  })
    .option('--json', 'print the entry as JSON')
    .action(async (options) => {
      printEntry(terminal, (await (await open()).read())?.mostRecentDocument ?? undefined, options.json);
    });
}

function ticketVerb(terminal: Terminal, open: OpenStore): CommandUnknownOpts {
  return verb('ticket', {
    summary: 'Print the documents of a ticket by type, as JSON',
    details: 'Exit code 1 when there are none.',
    example: 'svc context ticket ABC-123',
  })
    .argument('<id>')
    .action(async (id) => {
      const context = await (await open()).read();
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
  throw new Failure('usage', `Unknown document type ${text}. Use one of ${documentTypes.join(', ')}.`);
}

/** The argument `null` means none; the file has null, not the string. */
function orNull(text: string): string | null {
  return text === 'null' || text === '' ? null : text;
}

// The workflow context of a worktree: its ticket, its orchestration, and the documents made for it.
// Pure: every change is a function from one context to the next.
import { z } from 'zod';
import { contextDirectory, contextProfile, type RepositoryFacts } from './setup-variables.ts';

export const documentTypes = ['research', 'plans', 'handoffs', 'prs'] as const;
export const DocumentType = z.enum(documentTypes);

const ContextEntry = z.object({
  path: z.string(),
  created: z.iso.datetime({ offset: true }),
  ticket: z.string().nullable(),
});

const entries = z.array(ContextEntry).default([]);

/** Unknown fields survive a rewrite. */
export const WorkflowContext = z.looseObject({
  lastUpdated: z.iso.datetime({ offset: true }),
  currentTicket: z.string().nullable(),
  orchestration: z.string().nullable().default(null),
  mostRecentDocument: ContextEntry.extend({ type: DocumentType }).nullable().default(null),
  workflow: z.object({ research: entries, plans: entries, handoffs: entries, prs: entries }).prefault({}),
});

export type DocumentType = z.infer<typeof DocumentType>;
type ContextEntry = z.infer<typeof ContextEntry>;
export type WorkflowContext = z.infer<typeof WorkflowContext>;

export function newContext(now: string, ticket: string | null): WorkflowContext {
  return {
    lastUpdated: now,
    currentTicket: ticket,
    orchestration: null,
    mostRecentDocument: null,
    workflow: { research: [], plans: [], handoffs: [], prs: [] },
  };
}

export function withTicket(context: WorkflowContext, now: string, ticket: string | null): WorkflowContext {
  return { ...context, lastUpdated: now, currentTicket: ticket };
}

export function withOrchestration(
  context: WorkflowContext,
  now: string,
  name: string | null,
): WorkflowContext {
  return { ...context, lastUpdated: now, orchestration: name };
}

/** Adds a document, newest first. Adding the same path again moves it to the front. */
export function withDocument(
  context: WorkflowContext,
  now: string,
  type: DocumentType,
  path: string,
  ticket: string | null,
): WorkflowContext {
  const entry = { path, created: now, ticket };
  const others = context.workflow[type].filter((other) => other.path !== path);
  return {
    ...context,
    lastUpdated: now,
    currentTicket: ticket ?? context.currentTicket,
    mostRecentDocument: { type, ...entry },
    workflow: { ...context.workflow, [type]: [entry, ...others] },
  };
}

/** The documents of a ticket, by type. */
export function documentsOf(context: WorkflowContext, ticket: string): WorkflowContext['workflow'] {
  const of = (type: DocumentType) => context.workflow[type].filter((entry) => entry.ticket === ticket);
  return { research: of('research'), plans: of('plans'), handoffs: of('handoffs'), prs: of('prs') };
}

// The context store: documents of a project that outlive its worktrees (research, plans, handoffs). It is one folder
// for each profile and directory; each worktree shows its shared part and the user's own part as `thoughts/`.

/** The shared part. */
export const SHARED = 'shared';

export type ThoughtsPlace =
  | {
      ok: true;
      /** Below the root of all stores: `<profile>/<directory>`. */
      store: string;
      /** The names of its parts in `thoughts/`. */
      parts: string[];
      /** The folders created in it: `shared/plans`, …, `<user>`. */
      folders: string[];
    }
  | {
      ok: false;
      key: 'svc.thoughts.profile' | 'svc.thoughts.directory' | 'svc.thoughts.user';
      value: string;
    };

const oneFolder = /^(?!\.)[^/\\\p{Cc}]{1,120}$/u;
const someFolders = /^(?!\.{1,2}(?:\/|$))[^/\\\p{Cc}]{1,120}(?:\/(?!\.{1,2}(?:\/|$))[^/\\\p{Cc}]{1,120})*$/u;

export function thoughtsPlace(facts: RepositoryFacts): ThoughtsPlace {
  const { profile } = contextProfile(facts);
  const directory = contextDirectory(facts);
  const { user = null } = facts.thoughts;
  if (!oneFolder.test(profile)) return { ok: false, key: 'svc.thoughts.profile', value: profile };
  if (!someFolders.test(directory)) return { ok: false, key: 'svc.thoughts.directory', value: directory };
  if (user !== null && (!oneFolder.test(user) || user === SHARED))
    return { ok: false, key: 'svc.thoughts.user', value: user };
  const own = user === null ? [] : [user];
  return {
    ok: true,
    store: `${profile}/${directory}`,
    parts: [SHARED, ...own],
    folders: [...documentTypes.map((type) => `${SHARED}/${type}`), ...own],
  };
}

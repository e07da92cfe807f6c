// Dispatch from the tracker: a label or an assignment that starts a run for its ticket, if the user's own file allows it
// for that repository and those people. The ticket's text becomes the agent's prompt, so its author has to be allowed
// as well as the person who set the label. What is not known is refused.
import { repoKey } from '@svc/contract/repo-name';
import type { ResolvedValue } from '../../kernel/config/resolved-value.ts';
import type { EventLine } from '../../kernel/log/event-line.ts';
import type { Effect } from '../../kernel/outbox/effect.ts';
import type { Config } from '../config.ts';
import type { Ticket } from '../tracker/entity.ts';
import type { TicketDetail } from '../tracker/topics.ts';
import { ticketPrefixOf } from '../tracker/tracker-of.ts';
import type { DispatchEntry } from './config.ts';
import type { Run } from './entity.ts';

/** The prefix of a project's tickets, and the entries for its repository. */
export type ProjectDispatch = { prefix: string; entries: DispatchEntry[] };

declare module '../../kernel/config/configuration.ts' {
  interface Applied {
    dispatch?: ProjectDispatch;
  }
}

/**
 * Undefined if nothing in the tracker may start a run. A list that is invalid now counts as empty: an earlier one may
 * allow people who were removed since.
 */
export function dispatchOf(
  config: Config,
  values: readonly Pick<ResolvedValue, 'path' | 'source'>[],
): ProjectDispatch | undefined {
  const given = values.find(({ path }) => path.join('.') === 'svc.orchestration.dispatch');
  const prefix = ticketPrefixOf(config);
  if (given?.source.kind !== 'file' || prefix === undefined) return undefined;
  const entries = config.svc.orchestration.dispatch.filter(({ repo }) => repo === repositoryOf(config));
  return entries.length === 0 ? undefined : { prefix, entries };
}

/** `acme/web`; `/` if the project's file does not name its repository. */
function repositoryOf({ svc: { repository } }: Config): string {
  return `${repository.org ?? ''}/${repository.name ?? ''}`;
}

/** Repositories with an entry that no served project has: nothing in their trackers starts a run. */
export function unservedDispatch(configs: readonly Config[]): string[] {
  const served = new Set(configs.map(repositoryOf));
  const wanted = configs.flatMap(({ svc }) => svc.orchestration.dispatch.map(({ repo }) => repo));
  return [...new Set(wanted)].filter((repo) => !served.has(repo));
}

export type StartRun = Extract<Effect, { kind: 'start-run' }>;

type Projects = ReadonlyMap<string, { dispatch?: ProjectDispatch }>;
type Known = Pick<Ticket, 'ticket' | 'labels' | 'assignee' | 'removed'>;
type IssueLine = Pick<EventLine, 'ts' | 'event' | 'source' | 'occurredAt' | 'scope' | 'actor'> & {
  detail: Pick<TicketDetail, 'actorId' | 'author' | 'labelsAdded' | 'assigned' | 'state'>;
};
type Refusal = { reason: string; remedy: string };

/** `isSeen`: this very change set the label or the assignee. */
type Request = { because: string; again: string; isSeen: boolean };
type Asked = Request & { project: string; entry: DispatchEntry };

export type DispatchDecision = { repo: string; by: string | null; because: string } & (
  | ({ start: true } & Pick<StartRun, 'project' | 'actor' | 'author'>)
  /** `invited`: an allowed person asked for it, and expects a run. */
  | ({ start: false; invited: boolean } & Refusal)
);

/** A delivery that comes later than this starts nothing: what was wanted then may be wrong now. */
const LATEST_MS = 24 * 60 * 60_000;

/** Undefined if the line does not ask for a run. */
export function decideDispatch(
  projects: Projects,
  before: Known | undefined,
  after: Known,
  line: IssueLine,
): DispatchDecision | undefined {
  const asked = askedIn(projects, before, after, line);
  const [first] = asked;
  if (first === undefined) return undefined;
  const { actor, author } = peopleIn(line);
  const verdicts = asked.map((one) => ({ ...one, refusal: refusalOf(one, before, line) }));
  const isOneProject = asked.every(({ project }) => project === first.project);
  const allowed = isOneProject ? verdicts.find(({ refusal }) => refusal === undefined) : undefined;
  const { project, entry, because } = allowed ?? first;
  const common = {
    repo: entry.repo,
    by: actor === undefined ? null : shown(line.actor?.login, actor),
    because,
  };
  if (allowed !== undefined && actor !== undefined && author !== undefined)
    return { ...common, start: true, project, actor, author };
  const refusal = verdicts[0]?.refusal ?? {
    reason: `several projects have entries for tickets like ${after.ticket}`,
    remedy: `Start it in the right folder: svc orchestrate start ${after.ticket}`,
  };
  const invited = asked.some((one) => isListed(one, actor));
  return { ...common, start: false, invited, ...refusal };
}

/** The entries that the line asks to be used. */
function askedIn(projects: Projects, before: Known | undefined, after: Known, line: IssueLine): Asked[] {
  const { repo } = line.scope;
  const prefix = after.ticket.slice(0, after.ticket.lastIndexOf('-'));
  return [...projects].flatMap(([project, { dispatch }]) =>
    dispatch?.prefix.toUpperCase() !== prefix
      ? []
      : dispatch.entries.flatMap((entry) =>
          repo !== undefined && repoKey(repo) !== repoKey(entry.repo)
            ? []
            : requestsOf(entry, before, after, line).map((request) => ({ project, entry, ...request })),
        ),
  );
}

function requestsOf(
  { label, assignee }: DispatchEntry,
  before: Known | undefined,
  after: Known,
  line: IssueLine,
): Request[] {
  const requests: Request[] = [];
  const isSeen = label !== undefined && line.detail.labelsAdded?.includes(label) === true;
  if (label !== undefined && after.labels.includes(label) && (isSeen || isNew(label, before, line)))
    requests.push({
      because: `the label ${label}`,
      again: `Remove the label ${label} and set it again.`,
      isSeen,
    });
  if (assignee !== undefined && after.assignee !== null && peopleIn(line).assigned === assignee)
    requests.push({
      because: `the assignment to ${assignee}`,
      again: 'Remove the assignee and assign the ticket again.',
      isSeen: true,
    });
  return requests;
}

/** It was set unseen: the delivery was lost, and a later one or a poll shows the label. */
function isNew(label: string, before: Known | undefined, { source, event }: IssueLine): boolean {
  if (before === undefined) return source === 'tracker.poll' && event === 'tracker.issue.created';
  return !before.labels.includes(label);
}

type People = { actor: string | undefined; author: string | undefined; assigned: string | undefined };

/** The code host knows people by their login. In the other tracker only an id is unique: names can be changed. */
function peopleIn({ source, actor, detail }: IssueLine): People {
  if (source === 'codehost.webhook')
    return { actor: actor?.login, author: detail.author?.name, assigned: detail.assigned?.name };
  if (source === 'tracker.webhook')
    return { actor: detail.actorId, author: detail.author?.id, assigned: detail.assigned?.id };
  return { actor: undefined, author: undefined, assigned: undefined };
}

function isListed({ entry }: Asked, person: string | undefined): boolean {
  return person !== undefined && entry.authors.includes(person);
}

function refusalOf(asked: Asked, before: Known | undefined, line: IssueLine): Refusal | undefined {
  const { again, because, entry } = asked;
  const { actor, author } = peopleIn(line);
  const ticket = line.scope.ticket ?? '';
  const yourself = `Read the ticket, then start the run yourself: svc orchestrate start ${ticket}`;
  if (actor === undefined || !asked.isSeen)
    return { reason: `it is not known who is behind ${because}`, remedy: again };
  if (!isListed(asked, actor))
    return { reason: notListed(shown(line.actor?.login, actor), entry), remedy: yourself };
  if (author === undefined) return { reason: 'it is not known who wrote the ticket', remedy: yourself };
  if (!isListed(asked, author))
    return {
      reason: `${notListed(shown(line.detail.author?.name, author), entry)}, and wrote the ticket`,
      remedy: yourself,
    };
  if (before?.removed === true)
    return { reason: 'the ticket had been removed from the tracker', remedy: again };
  return refusalOfState(line, again) ?? lateness(line, again);
}

/** The code host reports the state of every closed issue. */
function refusalOfState({ source, detail }: IssueLine, again: string): Refusal | undefined {
  const type = detail.state?.type;
  if (type === 'completed' || type === 'canceled')
    return { reason: 'the ticket is closed', remedy: `Reopen the ticket. ${again}` };
  if (type === undefined && source !== 'codehost.webhook')
    return { reason: 'it is not known whether the ticket is open', remedy: again };
  return undefined;
}

function lateness({ occurredAt, ts }: IssueLine, again: string): Refusal | undefined {
  const lateMs = occurredAt === undefined ? Number.NaN : Date.parse(ts) - Date.parse(occurredAt);
  if (lateMs <= LATEST_MS) return undefined;
  return {
    reason: Number.isNaN(lateMs)
      ? 'it is not known when that happened'
      : `the delivery came ${Math.round(lateMs / 3_600_000)} hours late`,
    remedy: again,
  };
}

function notListed(person: string, { repo }: DispatchEntry): string {
  return `${person} is not in authors of svc.orchestration.dispatch for ${repo}`;
}

/** Names are text of others; an id is shown as it has to be written in the list. */
function shown(name: string | undefined, id: string): string {
  return name === undefined || name === id ? quoted(id) : `${quoted(name)} (${quoted(id)})`;
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 60));
}

/** Why the run may not be started now, however long the effect has waited. `folder` is the real path of the project. */
export function dispatchRefusal(
  board: { projects: Projects; runs: ReadonlyMap<string, Omit<Run, 'key'>> },
  effect: StartRun,
  folder: string,
  now: number,
): Refusal | undefined {
  const { ticket, project, repo, actor, author } = effect;
  const again = 'Set the label or the assignee again.';
  const entries = board.projects.get(project)?.dispatch?.entries ?? [];
  const isAllowed = entries.some(
    (entry) => entry.repo === repo && entry.authors.includes(actor) && entry.authors.includes(author),
  );
  if (!isAllowed)
    return {
      reason: `svc.orchestration.dispatch no longer allows it for ${repo}`,
      remedy: `Start the run yourself: svc orchestrate start ${ticket}`,
    };
  if (now - Date.parse(effect.at) > LATEST_MS)
    return { reason: 'it waited for more than a day', remedy: again };
  for (const { orchestrator, state, plan, tickets } of board.runs.values()) {
    if (state === 'completed' || state === 'canceled') continue;
    if ([...tickets, ...(plan?.waves.flat() ?? [])].some((one) => one.toUpperCase() === ticket))
      return {
        reason: `the ticket is in the run ${orchestrator}, which has not ended`,
        remedy: `Show the run: svc orchestrate status ${orchestrator}`,
      };
    if (state === 'paused' && plan?.project === folder)
      return {
        reason: `the run ${orchestrator} of this project is paused`,
        remedy: `Resume it: svc orchestrate resume ${orchestrator}. ${again}`,
      };
  }
  return undefined;
}

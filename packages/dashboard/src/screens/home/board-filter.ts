// Which cards are shown: by run, project, repository, machine and text, from the URL.
import type { BoardView } from 'svc-monitor/src/features/board/api.ts';
import type { BoardCard } from 'svc-monitor/src/features/board/board-columns.ts';
import type { ProjectList } from 'svc-monitor/src/features/configuration/config-report.ts';
import type { LiveBoard } from '../../live/board-store.ts';
import { titleOf } from './card-words.ts';

export type Project = ProjectList['projects'][number];
export type BoardFilter = {
  run?: string | undefined;
  project?: Project | undefined;
  repo?: string | undefined;
  /** The board has only the rows of this machine; a pull request without a worker is of no machine. */
  machine?: string | undefined;
  text?: string | undefined;
};
type Runs = ReadonlyMap<string, BoardView['runs'][number]>;

export function isFiltering({ run, project, repo, machine, text }: BoardFilter): boolean {
  return [run, project, repo, machine, text].some((part) => part !== undefined && part !== '');
}

export function matches(card: BoardCard, filter: BoardFilter, runs: Runs): boolean {
  const { run, project, repo, machine, text } = filter;
  if (machine !== undefined && card.worker === null) return false;
  if (run !== undefined && card.worker?.orchestrator !== run) return false;
  if (repo !== undefined && !isSame(repoOf(card), repo)) return false;
  if (project !== undefined && !isOfProject(card, project, runs)) return false;
  return text === undefined || hasText(card, text);
}

export function repoOf({ worker, pullRequest }: Pick<BoardCard, 'worker' | 'pullRequest'>): string | null {
  return worker?.repo ?? pullRequest?.repo ?? null;
}

/** By the plan of its run, else by its repository, else by its ticket prefix. */
function isOfProject(
  card: Pick<BoardCard, 'worker' | 'pullRequest'>,
  { folder, repo, ticketPrefix }: Project,
  runs: Runs,
): boolean {
  const isOwn = card.worker?.machine === undefined;
  const plan = (isOwn && runs.get(card.worker?.orchestrator ?? '')?.plan) || null;
  if (plan !== null) return plan.project === folder;
  const own = repoOf(card);
  if (own !== null && isSame(own, repo)) return true;
  return hasPrefixOf(card.worker?.ticket ?? card.pullRequest?.ticket ?? '', { ticketPrefix });
}

export function hasPrefixOf(ticket: string, { ticketPrefix }: Pick<Project, 'ticketPrefix'>): boolean {
  return ticketPrefix !== null && ticket.toUpperCase().startsWith(`${ticketPrefix.toUpperCase()}-`);
}

type Workers = Pick<LiveBoard, 'workers' | 'runs'>;

/** The projects that none of these workers is of. */
export function withoutAgent(projects: readonly Project[], { workers, runs }: Workers): Project[] {
  const all = [...workers.values()];
  return projects.filter(
    (project) => !all.some((worker) => isOfProject({ worker, pullRequest: null }, project, runs)),
  );
}

function hasText(card: BoardCard, text: string): boolean {
  const { worker, pullRequest } = card;
  const where = [
    titleOf(card),
    worker?.ticket,
    worker?.orchestrator,
    worker?.branch,
    pullRequest?.ticket,
    pullRequest?.title,
    pullRequest?.name,
    pullRequest?.author,
    pullRequest?.branch,
  ];
  const wanted = text.toLowerCase();
  return where.some((part) => part?.toLowerCase().includes(wanted));
}

function isSame(one: string | null, other: string | null): boolean {
  return one !== null && other !== null && one.toLowerCase() === other.toLowerCase();
}

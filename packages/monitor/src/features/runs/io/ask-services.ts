// What a run needs of the code host, and a task of the tracker, asked before it is started. Whether the tickets of a run
// exist is asked by the reader of tickets.
import { Failure } from '../../../kernel/failure.ts';
import type { AgentProblem } from '../../agents/choice.ts';
import type { Gh } from '../../codehost/gh.ts';
import { codehostProblemWords } from '../../codehost/problem.ts';
import type { Config } from '../../config.ts';
import { NotFiled, type Tracker } from '../../tracker/io/tracker.ts';
import { hasTracker, trackerOf } from '../../tracker/tracker-of.ts';
import type { RunProjects } from './run-project.ts';

/** `notes` do not prevent the start. */
type ServiceAnswers = { missing: AgentProblem[]; notes: AgentProblem[] };

/** `filesTicket`: the run is for a task that becomes a ticket of the tracker. */
export type AskServices = (asked: { folder: string; filesTicket: boolean }) => Promise<ServiceAnswers>;

export function createAskServices(options: {
  projects: Pick<RunProjects, 'of'>;
  open: (config: Config) => Tracker;
  gh: Pick<Gh, 'request'>;
}): AskServices {
  const { projects, open, gh } = options;

  /** Whether a ticket can be created there. */
  async function askDestination(config: Config): Promise<ServiceAnswers> {
    const chosen = trackerOf(config);
    if (chosen.provider === undefined)
      return { missing: [{ problem: upper(`${chosen.why}.`), remedy: chosen.remedy }], notes: [] };
    try {
      const tracker = open(config);
      await tracker.filing.prepare([]);
      const team = await tracker.teamStates(chosen.teamId ?? chosen.teamKey ?? '');
      if (team !== undefined) return { missing: [], notes: [] };
      const { description } = tracker.filing;
      return {
        missing: [
          {
            problem: `The ticket cannot be created: ${description} was not found.`,
            remedy: 'Check the settings of the tracker: svc doctor. Or keep the ticket here: --local',
          },
        ],
        notes: [],
      };
    } catch (error) {
      return { missing: [problemOf(error)], notes: [] };
    }
  }

  /** The agent opens its pull request with gh. */
  async function askCodehost(repo: string | null): Promise<ServiceAnswers> {
    if (repo === null) return { missing: [], notes: [] };
    const asked = await gh.request({ path: `repos/${repo}` });
    if (asked.ok) return { missing: [], notes: [] };
    const { why, remedy } = codehostProblemWords(asked.problem);
    const problem = `The agent may not be able to open a pull request in ${repo}: ${why}.`;
    return { missing: [], notes: [{ problem, remedy }] };
  }

  return async ({ folder, filesTicket }) => {
    const { config, repo } = await projects.of(folder);
    const answers = await Promise.all([
      filesTicket ? askDestination(config) : { missing: [], notes: unreadTickets(config) },
      askCodehost(repo),
    ]);
    return {
      missing: answers.flatMap(({ missing }) => missing),
      notes: answers.flatMap(({ notes }) => notes),
    };
  };
}

/** Nobody can tell whether a ticket exists, nor give its text to an agent. */
function unreadTickets(config: Config): AgentProblem[] {
  const tracker = trackerOf(config);
  if (tracker.provider !== undefined || !hasTracker(config)) return [];
  return [{ problem: `Agents get only the names of tickets: ${tracker.why}.`, remedy: tracker.remedy }];
}

function problemOf(error: unknown): AgentProblem {
  if (error instanceof NotFiled || error instanceof Failure)
    return { problem: upper(error.message.replace(/\.?$/, '.')), remedy: error.remedy ?? '' };
  throw error;
}

function upper(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

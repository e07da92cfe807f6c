// What a new user has ready for a first ticket, what is missing, and the command to run next. The first board and
// `svc init` both show it. It judges nothing again: agents and feeds come with their problems.
import type { DoctorFinding } from '../../kernel/check/finding.ts';
import { remedyCommand } from '../../kernel/check/remedy-command.ts';
import type { ListedAgent } from '../agents/api.ts';
import type { Health } from '../health/api.ts';

export type FirstStep = {
  part: 'agent' | 'skills' | 'feeds';
  state: 'ready' | 'missing' | 'unknown';
  words: string;
  /** What fixes it, or shows more of it. */
  remedy: string | null;
};

type Agents = readonly Pick<ListedAgent, 'name' | 'default' | 'program' | 'problem' | 'remedy'>[];

export type FirstStepsInput = {
  /** Undefined: not known. */
  agents: Agents | undefined;
  health:
    | { findings: readonly DoctorFinding[]; sources: { repos: readonly Pick<Repo, 'repo' | 'by'>[] } }
    | undefined;
};
type Repo = Health['sources']['repos'][number];

export function firstSteps({ agents, health }: FirstStepsInput): FirstStep[] {
  return [...agentSteps(agents), feedStep(health)];
}

/** The agent that a first run would use: the one that the project names if it is there, otherwise any other. */
function firstAgent(agents: Agents): Agents[number] | undefined {
  const there = agents.filter(({ program }) => program !== null);
  return there.find((agent) => agent.default) ?? there.find(({ problem }) => problem === null) ?? there[0];
}

/** The agent that has to be named to start a first run; null: the configured one is there, or none is. */
export function agentToName(agents: Agents): string | null {
  const agent = firstAgent(agents);
  return agent === undefined || agent.default ? null : agent.name;
}

function agentSteps(agents: Agents | undefined): FirstStep[] {
  if (agents === undefined)
    return [
      {
        part: 'agent',
        state: 'unknown',
        words: 'It is not known which agents are installed.',
        remedy: 'svc agents list',
      },
    ];
  const agent = firstAgent(agents);
  if (agent === undefined) {
    const wanted = agents.find((one) => one.default) ?? agents[0];
    const words = wanted?.problem ?? 'No agent is installed.';
    return [{ part: 'agent', state: 'missing', words, remedy: wanted?.remedy ?? 'svc agents list' }];
  }
  const { name, problem, remedy } = agent;
  return [
    {
      part: 'agent',
      state: 'ready',
      words: `The agent ${name} is installed.`,
      remedy: `svc agents check ${name}`,
    },
    problem === null
      ? { part: 'skills', state: 'ready', words: `${name} knows how to work on a ticket.`, remedy: null }
      : { part: 'skills', state: 'missing', words: problem, remedy },
  ];
}

const feedParts: readonly DoctorFinding['part'][] = ['feeds', 'code-host', 'tracker'];

function feedStep(health: FirstStepsInput['health']): FirstStep {
  if (health === undefined)
    return {
      part: 'feeds',
      state: 'unknown',
      words: 'The state of the feeds is not known.',
      remedy: 'svc feeds',
    };
  const wrong = health.findings.find(({ part, grade }) => feedParts.includes(part) && grade !== 'ok');
  if (wrong !== undefined)
    return { part: 'feeds', state: 'missing', words: sentence(wrong.what), remedy: wrong.remedy };
  const live = health.sources.repos.filter(({ by }) => by === 'webhook').map(({ repo }) => repo);
  const words =
    live.length > 0
      ? `Changes of ${live.join(', ')} arrive at once.`
      : 'Changes are found by polling, within ten minutes.';
  return { part: 'feeds', state: 'ready', words, remedy: null };
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/** The next command: what a run needs first, then the run. Feeds are not needed for it: everything is polled too. */
export function nextCommand(given: FirstStepsInput & { ticket: string | undefined }): string {
  const blocking = firstSteps(given).find(({ part, state }) => part !== 'feeds' && state !== 'ready');
  const command = remedyCommand(blocking?.remedy ?? '')?.command;
  if (command !== undefined) return command;
  const agent = agentToName(given.agents ?? []);
  return `svc orchestrate start ${given.ticket ?? '<ticket>'}${agent === null ? '' : ` --agent ${agent}`}`;
}

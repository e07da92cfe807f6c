// The agents that a project can use: which of them are installed, what they answer when they are asked, and whether they
// have a login.
import { createCache } from '@svc/lib/cache';
import { createLimit } from '@svc/lib/limit';
import type { Environment } from '../../../kernel/config/resolved-value.ts';
import { Failure } from '../../../kernel/failure.ts';
import type { Config } from '../../config.ts';
import { type AgentVariableSources, agentVariables, feedSecretVariables } from '../agent-environment.ts';
import type { AgentCheck, ListedAgent } from '../api.ts';
import { type AskedAgent, judgeAgent, type WantedChoice } from '../check.ts';
import {
  type AgentProblem,
  type ChosenAgent,
  defaultAgentName,
  type KnownAgent,
  knownAgents,
  notInstalled,
  type PathOf,
  unknownAgent,
} from '../choice.ts';
import { judgeLogin } from '../login.ts';
import { askAgent, locateAgent } from './check-agent.ts';
import { findLoginEvidence } from './login-evidence.ts';

/** A start right after its preflight does not ask an agent that could be used again. */
const KEPT_MS = 60_000;
const MOST_KEPT = 50;

/** Asks agents, few at once, because one takes some hundred megabytes. */
export type AgentAsker = { limit: ReturnType<typeof createLimit>; kept: Kept };
type Kept = ReturnType<typeof createCache<AskedAgent>>;

export function createAgentAsker(now: () => Date): AgentAsker {
  return {
    limit: createLimit(2),
    kept: createCache<AskedAgent>({ now: () => now().getTime(), lifetimeMs: KEPT_MS, most: MOST_KEPT }),
  };
}

export type ProjectAgents = {
  /** What every agent of the project gets. */
  variables: () => Record<string, string>;
  locate: (agent: KnownAgent) => Promise<string | null>;
  all: () => KnownAgent[];
  /** The first prompt of a ticket. */
  promptFor: (
    agent: Pick<ChosenAgent, 'name' | 'commands'>,
    command: string,
    ticket: string,
  ) => Promise<Work>;
  list: () => Promise<ListedAgent[]>;
  /** Starts it and asks what it can do. With `kept`, what it answered a moment ago is enough. */
  ask: (name: string, options?: { wanted?: WantedChoice; kept?: boolean }) => Promise<AgentCheck>;
  /** The same, and whether it knows the worker command. */
  check: (name: string) => Promise<AgentCheck>;
};

type Work = { prompt: string } | AgentProblem;
/** The first prompt of a worker, for an agent that may not know the command. */
type WorkerPrompt = (given: {
  agent: Pick<ChosenAgent, 'name' | 'commands'>;
  command: string;
  ticket: string;
  home: string;
  environment: Environment;
}) => Promise<Work>;

export function createProjectAgents(options: {
  config: Config;
  /** The project's folder. */
  folder: string | undefined;
  home: string;
  /** The environment of svc itself. */
  environment: () => Environment;
  locations: Readonly<Record<string, string>>;
  pathOf: PathOf;
  /** For each answer of an agent. */
  answerMs: number;
  asker: AgentAsker;
  workerPrompt: WorkerPrompt;
  signal?: AbortSignal | undefined;
}): ProjectAgents {
  const { config, folder, home, environment, locations, pathOf, answerMs, asker, signal } = options;
  const { orchestration } = config.svc;
  const all = (): KnownAgent[] => knownAgents(orchestration);
  const variables = () => agentVariables(variableSources(config, environment(), locations)).environment;
  const locate = (agent: KnownAgent) => locateAgent(agent, variables());
  const evidenceOf = (agent: KnownAgent) =>
    findLoginEvidence(agent, { environment: variables(), inherited: environment(), home, folder });

  const promptFor: ProjectAgents['promptFor'] = (agent, command, ticket) =>
    options.workerPrompt({ agent, command, ticket, home, environment: variables() });

  function agentNamed(name: string): KnownAgent {
    const agent = all().find((one) => one.name === name);
    if (agent !== undefined) return agent;
    const { problem, remedy } = unknownAgent(name, all());
    throw new Failure('usage', problem, remedy);
  }

  async function unfitFor(agent: KnownAgent): Promise<AgentProblem | undefined> {
    const work = await promptFor(agent, orchestration.workerCommand, '');
    return 'problem' in work ? work : undefined;
  }

  const questionFor = (agent: KnownAgent, program: string) => ({
    agent,
    program,
    environment: variables(),
    answerMs,
  });

  async function judge(
    agent: KnownAgent,
    given: { unfit?: AgentProblem | undefined; wanted?: WantedChoice | undefined; kept?: boolean },
  ): Promise<AgentCheck> {
    const program = await locate(agent);
    const facts = { ...given, evidence: await evidenceOf(agent), agentEnv: orchestration.agentEnv, pathOf };
    if (program === null) return judgeAgent(agent, null, facts);
    const question = questionFor(agent, program);
    const key = JSON.stringify(question);
    const before = given.kept ? asker.kept.get(key) : undefined;
    const asked = before ?? (await asker.limit(() => askAgent({ ...question, signal })));
    const checked = judgeAgent(agent, program, facts, asked);
    // After a fix the agent is asked again at once.
    if (before === undefined && asked.failure === null && checked.login.state !== 'no')
      asker.kept.set(key, asked);
    return checked;
  }

  async function listed(agent: KnownAgent): Promise<ListedAgent> {
    const { env, login, ...entry } = agent;
    const program = await locate(agent);
    const found = program === null ? notInstalled(agent, pathOf) : await unfitFor(agent);
    const asked = program === null ? undefined : asker.kept.get(JSON.stringify(questionFor(agent, program)));
    return {
      ...entry,
      args: [...agent.args],
      program,
      default: agent.name === defaultAgentName(orchestration),
      login: judgeLogin(await evidenceOf(agent), asked?.session),
      problem: found?.problem ?? null,
      remedy: found?.remedy ?? null,
    };
  }

  return {
    variables,
    locate,
    all,
    promptFor,
    list: () => Promise.all(all().map(listed)),
    ask: (name, given = {}) => judge(agentNamed(name), given),
    async check(name) {
      const agent = agentNamed(name);
      return judge(agent, { unfit: await unfitFor(agent) });
    },
  };
}

/** The part of the environment that an agent of the project may see. */
export function variableSources(
  config: Config,
  inherited: Environment,
  locations: Readonly<Record<string, string>>,
): AgentVariableSources {
  const { agentEnv } = config.svc.orchestration;
  return { inherited, agentEnv, secretNames: feedSecretVariables(config), locations };
}

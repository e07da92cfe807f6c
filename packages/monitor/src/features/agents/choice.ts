// Which agent works on a ticket, and how it is run: through the protocol, or as the command line of
// `svc.orchestration.agent`. And which permissions it gets without asking a person.

import { pathInRepository } from '@svc/lib/path-in-repository';
import type { Config } from '../config.ts';
import { type LoginRule, loginRules } from './login.ts';
import type { Answer } from './messages.ts';
import type { OpenRequest } from './requests.ts';

export type ChosenAgent =
  | {
      name: string;
      protocol: true;
      argv: readonly [program: string, ...args: string[]];
      /** In addition to what every agent gets. */
      env: Readonly<Record<string, string>>;
      mode: string | null;
      model: string | null;
      commands: boolean;
    }
  /** `reason` is shown to people: why svc cannot talk to it. `commands` is null for a program that svc does not know. */
  | { name: string; protocol: false; reason: string; commands: boolean | null };

/** An agent that svc can talk to, whether or not it is installed. */
export type KnownAgent = {
  name: string;
  builtIn: boolean;
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  /** The permission mode that is set before the first prompt; null leaves the agent's default. */
  mode: string | null;
  model: string | null;
  /** Whether it knows commands of plugins, like the worker command. Any other agent gets the text of the skill. */
  commands: boolean;
  /** The command that installs the version that was tried; null: not known. */
  install: string | null;
  /** How it gets its login or its key; null: not known. */
  login: LoginRule | null;
};

type BuiltIn = Pick<KnownAgent, 'command' | 'args' | 'mode'> & {
  package: string;
  env?: object;
  commands?: true;
  /** Its commands see no git settings of the person. */
  lacksGitSettings?: true;
};

/** The tried agents, each in the mode in which it asks a person before it edits a file or runs a command. */
const builtIn: Readonly<Record<string, BuiltIn>> = {
  claude: {
    command: 'claude-agent-acp',
    args: [],
    mode: 'default',
    commands: true,
    package: '@agentclientprotocol/claude-agent-acp@0.99.1',
  },
  codex: {
    command: 'codex-acp',
    args: [],
    mode: 'read-only',
    package: '@agentclientprotocol/codex-acp@2.6.0',
  },
  gemini: {
    command: 'gemini',
    args: ['--acp'],
    mode: 'default',
    package: '@google/gemini-cli@0.61.0',
    lacksGitSettings: true,
  },
  opencode: {
    command: 'opencode',
    args: ['acp'],
    // Its mode says which tools it has; whether it asks is in its permissions.
    env: { OPENCODE_PERMISSION: '{"edit":"ask","bash":"ask","webfetch":"ask","external_directory":"ask"}' },
    mode: 'build',
    package: 'opencode-ai@1.18.33',
  },
  qwen: {
    command: 'qwen',
    args: ['--acp'],
    mode: 'default',
    package: '@qwen-code/qwen-code@0.24.4',
  },
  copilot: {
    command: 'copilot',
    args: ['--acp'],
    mode: 'https://agentclientprotocol.com/protocol/session-modes#agent',
    package: '@github/copilot@1.0.102',
  },
};

export const builtInAgents: readonly string[] = Object.keys(builtIn);

export function lacksGitSettings(name: string): boolean {
  return Object.hasOwn(builtIn, name) && builtIn[name]?.lacksGitSettings === true;
}

type Orchestration = Config['svc']['orchestration'];

/** The built-in agents and the configured ones, by name. A configured field replaces the built-in one. */
export function knownAgents({ agents }: Pick<Orchestration, 'agents'>): KnownAgent[] {
  const names = new Set([...builtInAgents, ...Object.keys(agents)]);
  return [...names].flatMap((name) => knownAgent(name, builtIn[name], agents[name] ?? {}) ?? []);
}

function knownAgent(
  name: string,
  base: BuiltIn | undefined,
  given: Orchestration['agents'][string],
): KnownAgent | undefined {
  const command = given.command ?? base?.command;
  if (command === undefined) return undefined;
  const isOwn = given.command === undefined && base !== undefined;
  return {
    name,
    builtIn: base !== undefined,
    command,
    args: given.args ?? base?.args ?? [],
    env: { ...base?.env, ...given.env },
    mode: given.mode === undefined ? (base?.mode ?? null) : given.mode,
    model: given.model ?? null,
    commands: base?.commands ?? false,
    install: isOwn ? `npm install --global ${base.package}` : null,
    login: loginRules[name] ?? null,
  };
}

/** What happened, and the fix. */
export type AgentProblem = { problem: string; remedy: string };

/** Where programs are looked for: the daemon may have been started with another PATH than the shell of a person. */
export type PathOf = 'daemon' | 'shell';

export function notInstalled(
  { name, command, install }: Pick<KnownAgent, 'name' | 'command' | 'install'>,
  pathOf: PathOf = 'daemon',
): AgentProblem {
  const remedy =
    install === null
      ? `Install it, or set svc.orchestration.agents.${name}.command to its full path`
      : `Run: ${install}`;
  return pathOf === 'shell'
    ? { problem: `The agent ${name} is not installed: ${command} was not found in your PATH.`, remedy }
    : {
        problem: `The agent ${name} is not installed: ${command} was not found in the daemon's PATH.`,
        remedy: `${remedy}. If ${command} is in your own PATH, the daemon was started without it: svc monitor restart`,
      };
}

export function unknownAgent(name: string, known: readonly KnownAgent[]): AgentProblem {
  return {
    problem: `There is no agent ${JSON.stringify(name.slice(0, 100))}.`,
    remedy: `Choose one of: ${known.map((one) => one.name).join(', ')}; or add it to svc.orchestration.agents.`,
  };
}

/** The agent that was chosen for a run, the model and the permission mode that it gets, and the agents of single tickets. */
export type PlannedAgents = {
  agent?: string | undefined;
  model?: string | undefined;
  mode?: string | undefined;
  agents?: Readonly<Record<string, string>> | undefined;
};

/** What was chosen for the ticket when the run was started. */
export function namedAgent(
  { agent, agents = {} }: Pick<PlannedAgents, 'agent' | 'agents'>,
  ticket: string,
): string | undefined {
  return Object.hasOwn(agents, ticket) ? agents[ticket] : agent;
}

/** The agent of a run that names none: the program of the command line. */
export function defaultAgentName({ agent }: Pick<Orchestration, 'agent'>): string {
  return agent[0]?.split('/').at(-1) ?? '';
}

/** The model and the mode that were chosen for the run belong to its agent, not to one that a ticket has instead. */
export function choiceFor(plan: PlannedAgents, ticket: string): Pick<PlannedAgents, 'model' | 'mode'> {
  return namedAgent(plan, ticket) === plan.agent ? { model: plan.model, mode: plan.mode } : {};
}

/**
 * The agent that was chosen for the ticket, else for the run, else the one that the command line names. One that was
 * chosen is never replaced by another. `locate` finds the program of an agent; null: it is not installed.
 */
export async function chooseAgent(
  orchestration: Pick<Orchestration, 'agents' | 'agent'>,
  plan: PlannedAgents & { workerModel: string },
  ticket: string,
  locate: (agent: KnownAgent) => Promise<string | null>,
): Promise<ChosenAgent | AgentProblem> {
  const chosen = namedAgent(plan, ticket);
  const name = chosen ?? defaultAgentName(orchestration);
  const all = knownAgents(orchestration);
  const agent = all.find((one) => one.name === name);
  if (agent === undefined) {
    if (chosen === undefined) {
      const reason = `svc.orchestration.agent runs ${JSON.stringify(name)}, which is not a known agent`;
      return { name, protocol: false, reason, commands: null };
    }
    return unknownAgent(name, all);
  }
  const { args, env, commands } = agent;
  const own = choiceFor(plan, ticket);
  const mode = own.mode ?? agent.mode;
  const program = await locate(agent);
  if (program === null)
    return chosen === undefined
      ? { name, protocol: false, reason: `${agent.command} is not installed`, commands }
      : notInstalled(agent);
  const model = own.model ?? agent.model ?? (chosen === undefined ? plan.workerModel : null);
  return { name, protocol: true, argv: [program, ...args], env, mode, model, commands };
}

/**
 * The agent that verifies. A built-in one gets its own mode and variables, in which it asks before it changes anything,
 * whatever is set for workers.
 */
export async function chooseVerifier(
  orchestration: Pick<Orchestration, 'agents'>,
  name: string,
  locate: (agent: KnownAgent) => Promise<string | null>,
): Promise<Extract<ChosenAgent, { protocol: true }> | AgentProblem> {
  const all = knownAgents(orchestration);
  const agent = all.find((one) => one.name === name);
  if (agent === undefined) return unknownAgent(name, all);
  const own = builtIn[name];
  const mode = own?.mode ?? agent.mode;
  if (mode === null)
    return {
      problem: `The verifier ${name} has no permission mode, so it may change files without asking.`,
      remedy: `Set the mode in which it asks, see svc agents check ${name}: svc config set svc.orchestration.agents.${name}.mode <mode>`,
    };
  const program = await locate(agent);
  if (program === null) return notInstalled(agent);
  const env = { ...agent.env, ...own?.env };
  const { model, commands } = agent;
  return { name, protocol: true, argv: [program, ...agent.args], env, mode, model, commands };
}

/**
 * Whether an agent may be switched to the mode without a confirmation: it is the one that its run was started with, or
 * the one in which a tried agent asks. Of any other mode svc does not know whether the agent still asks.
 */
export function isKnownToAsk(name: string, startedWith: string | null, mode: string): boolean {
  return mode === startedWith || (Object.hasOwn(builtIn, name) && mode === builtIn[name]?.mode);
}

/** For an agent that may only read, and only in this folder. No person is asked. */
export function readOnlyAnswer(
  { kind, toolKind, paths, command, options }: OpenRequest,
  folder: string,
): Answer {
  if (kind === 'input') return 'decline';
  const isInside = paths.length > 0 && paths.every((path) => pathInRepository(path, folder) !== undefined);
  const isRead = (toolKind === 'read' || toolKind === 'search') && command === null && isInside;
  const wanted = isRead ? (['allow_once'] as const) : (['reject_once', 'reject_always'] as const);
  return wanted.find((one) => options.some((option) => option.kind === one)) ?? 'cancelled';
}

/**
 * The answer that the user's policy gives to a request; null: a person is asked. Only once, never always: what the agent
 * would then allow is its own decision. A kind of tool that is not in the policy is asked for.
 */
export function policyAnswer(
  policy: Orchestration['permissions'],
  { kind, toolKind, options }: OpenRequest,
): 'allow_once' | 'reject_once' | null {
  if (kind !== 'permission') return null;
  const rule = Object.entries(policy).find(([name]) => name === toolKind)?.[1] ?? 'ask';
  const answer = ({ ask: null, allow: 'allow_once', reject: 'reject_once' } as const)[rule];
  return options.some((option) => option.kind === answer) ? answer : null;
}

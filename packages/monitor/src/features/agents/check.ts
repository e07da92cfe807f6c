// Whether an agent can be used, from what it answered when it was asked.
import type { AgentCheck } from './api.ts';
import { type AgentProblem, type KnownAgent, notInstalled, type PathOf } from './choice.ts';
import { type AgentLogin, judgeLogin, type LoginEvidence, loginRemedy } from './login.ts';
import { type AgentSession, newAgentSession, PROTOCOL_VERSION } from './session.ts';

/** What an agent answered when it was started to ask what it can do. */
export type AskedAgent = {
  session: AgentSession;
  /** How it failed before it answered: `did not answer initialize within 30 s`. */
  failure: string | null;
};

/** What was chosen for the run, instead of what is configured. */
export type WantedChoice = { model?: string | undefined; mode?: string | undefined };

/** What is known of it besides its answers. */
export type AgentFacts = {
  evidence: LoginEvidence;
  /** The variables that agents of the project get. */
  agentEnv: readonly string[];
  pathOf?: PathOf | undefined;
  /** Why it cannot do what the worker command asks for. */
  unfit?: AgentProblem | undefined;
  wanted?: WantedChoice | undefined;
};

/** `asked` is undefined when it is not installed. */
export function judgeAgent(
  agent: KnownAgent,
  program: string | null,
  facts: AgentFacts,
  asked?: AskedAgent,
): AgentCheck {
  const { session } = asked ?? { session: newAgentSession };
  const { env, login: rule, ...entry } = agent;
  const login = judgeLogin(facts.evidence, asked && session);
  const found =
    asked === undefined
      ? notInstalled(agent, facts.pathOf)
      : (problemOf(agent, asked, login, facts) ?? facts.unfit);
  return {
    ...entry,
    args: [...entry.args],
    program,
    ok: found === undefined,
    version: session.agent?.version ?? null,
    protocolVersion: session.protocolVersion,
    capabilities: Object.entries(session.can).flatMap(([what, can]) => (can ? what : [])),
    login,
    modes: session.modes.map(({ id }) => id),
    models: session.models.map(({ id }) => id),
    problem: found?.problem ?? null,
    remedy: found?.remedy ?? null,
  };
}

function problemOf(
  agent: KnownAgent,
  { session, failure }: AskedAgent,
  login: AgentLogin,
  { wanted = {}, evidence, agentEnv }: AgentFacts,
): AgentProblem | undefined {
  const { name, command, args, install } = agent;
  const mode = wanted.mode ?? agent.mode;
  const { protocolVersion, logins, sessionId } = session;
  const seeOutput = `See what it prints: ${[command, ...args].join(' ')}`;
  if (protocolVersion !== null && protocolVersion !== PROTOCOL_VERSION)
    return {
      problem: `The agent ${name} speaks version ${protocolVersion} of the protocol, not ${PROTOCOL_VERSION}.`,
      remedy: install === null ? 'Install a version that does.' : `Run: ${install}`,
    };
  if (login.state === 'no')
    return {
      problem: `The agent ${name} needs a login: ${login.why}.`,
      remedy:
        agent.login === null
          ? `Log in with: ${logins.join(', ') || command}. Or name the variable with its API key in svc.orchestration.agentEnv.`
          : loginRemedy(agent.login, evidence, agentEnv),
    };
  if (failure !== null) return { problem: `The agent ${name} ${failure}.`, remedy: seeOutput };
  if (session.problem !== null)
    return { problem: `The agent ${name} failed: ${session.problem}.`, remedy: seeOutput };
  const modes = session.modes.map(({ id }) => id);
  const models = session.models.map(({ id }) => id);
  if (sessionId === null) return undefined;
  // An agent that offers no list may still take a model.
  if (wanted.model !== undefined && models.length > 0 && !models.includes(wanted.model))
    return {
      problem: `The agent ${name} has no model ${JSON.stringify(wanted.model)}; it has: ${models.join(', ')}.`,
      remedy: 'Choose one of them, or none for its own default.',
    };
  if (mode === null || modes.includes(mode)) return undefined;
  return {
    problem: `The agent ${name} has no permission mode ${JSON.stringify(mode)}; it has: ${modes.join(', ') || 'none'}.`,
    remedy:
      wanted.mode !== undefined
        ? 'Choose one of them, or none for the configured one.'
        : `Choose one of them: svc config set svc.orchestration.agents.${name}.mode <mode>`,
  };
}

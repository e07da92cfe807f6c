// The environment of an agent: the standard variables, the location of `svc`, what its telemetry and network need, the
// variables that the project passes on, its identity, and its telemetry attributes. No webhook secret and no tracker
// token.
import { ticketNamed } from '../codehost/map-codehost.ts';
import type { Config } from '../config.ts';

const ordinary = /^(?:PATH|HOME|LANG|TERM|USER|SHELL|TMPDIR|SSH_AUTH_SOCK)$/;
const telemetryVariable = /^(?:OTEL_[A-Z0-9_]+|CLAUDE_CODE_ENABLE_TELEMETRY)$/;
const proxyVariable = /^(?:HTTP|HTTPS|ALL|NO)_PROXY$/i;
/** An exporter's headers contain its key. Such a name is passed on only if it is in `agentEnv`. */
const secretName = /HEADERS|TOKEN|SECRET|PASSWORD|CREDENTIAL|API_?KEY/;
/** An address with a login in it, with or without its scheme. */
const addressWithLogin = /^(?:[a-z][a-z0-9+.-]*:\/\/)?[^/?#@\s]+@/i;
const variableName = /^[A-Za-z_][A-Za-z0-9_]{0,199}$/;

export type AgentEnvironment = {
  environment: Record<string, string>;
  /** Entries in `agentEnv` that are never passed on, or are not names. */
  refused: string[];
};

export type AgentVariableSources = {
  inherited: Readonly<Record<string, string | undefined>>;
  /** `svc.orchestration.agentEnv` */
  agentEnv: readonly string[];
  /** The variables that hold webhook secrets and the tracker's token, as configured. */
  secretNames: readonly string[];
  /** The daemon's own variables for file locations: the agent's `svc` must find the same files. */
  locations: Readonly<Record<string, string>>;
};

/** What every agent of a project gets, whatever its ticket. */
export function agentVariables({
  inherited,
  agentEnv,
  secretNames,
  locations,
}: AgentVariableSources): AgentEnvironment {
  const never = new Set([...ownSecretVariables, ...secretNames]);
  const isAllowed = (name: string): boolean => variableName.test(name) && !never.has(name);
  const named = new Set(agentEnv);
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries({ ...inherited, ...locations })) {
    if (value === undefined || !isAllowed(name)) continue;
    const isGiven = Object.hasOwn(locations, name) || named.has(name) || isPassedOn(name, value);
    if (isGiven) environment[name] = value;
  }
  return { environment, refused: agentEnv.filter((name) => !isAllowed(name)) };
}

/** Passed on by default, except for credentials: an address with a login, an exporter's headers. */
function isPassedOn(name: string, value: string): boolean {
  if (ordinary.test(name)) return true;
  if (!telemetryVariable.test(name) && !proxyVariable.test(name)) return false;
  return !secretName.test(name) && !addressWithLogin.test(value);
}

export function agentEnvironment({
  orchestrator,
  ticket,
  signalFile,
  inboxFile,
  telemetry,
  ...sources
}: AgentVariableSources & {
  orchestrator: string;
  ticket: string;
  signalFile: string;
  /** The agent's messages, one JSON object in each line; exists only if there are any. */
  inboxFile: string;
  telemetry: ResourceFacts;
}): AgentEnvironment {
  const { environment, refused } = agentVariables(sources);
  Object.assign(environment, {
    SVC_ORCHESTRATOR: orchestrator,
    SVC_TICKET: ticket,
    SVC_SIGNAL_FILE: signalFile,
    SVC_INBOX_FILE: inboxFile,
    SVC_AUTONOMOUS: '1',
    OTEL_RESOURCE_ATTRIBUTES: formatAttributes(resourceAttributes(telemetry)),
  });
  return { environment, refused };
}

// The variables with the daemon's own secrets. No program that it starts for a project needs them: not git with its
// hooks, no setup, no agent.

/** The default names for webhook secrets, relay channels and their read keys. */
const ownSecretVariables: readonly string[] = [
  'SVC_WEBHOOK_SECRET',
  'SVC_TRACKER_WEBHOOK_SECRET',
  'SVC_RELAY_CHANNEL',
  'SVC_TRACKER_RELAY_CHANNEL',
  'SVC_RELAY_READ_KEY',
  'SVC_TRACKER_RELAY_READ_KEY',
];

/** The names that a project configures for webhook secrets and read keys. */
export function feedSecretVariables({ svc }: Config): string[] {
  return [svc.monitor.github, svc.monitor.linear].flatMap((feed) => [
    feed.webhookSecretEnv,
    feed.relayReadKeyEnv,
  ]);
}

/** The names for feeds and for the keys of model providers. */
export function secretVariables(config: Config): string[] {
  const keys = Object.values(config.svc.ai.providers).flatMap((provider) => provider?.apiKeyEnv ?? []);
  return [...feedSecretVariables(config), ...keys];
}

/** The environment without our own secrets and without these. */
export function withoutSecrets(
  environment: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
): Record<string, string> {
  const never = new Set([...ownSecretVariables, ...names]);
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment))
    if (value !== undefined && !never.has(name)) kept[name] = value;
  return kept;
}

// Where a session's telemetry comes from: the same attributes for worker sessions and for a person's shell. Names are
// those of the specification; an unknown value has no attribute.

const LONGEST_ATTRIBUTE = 255;

type ResourceFacts = {
  project: string | null;
  hostname: string;
  branch: string | null;
  /** The workflow context's `currentTicket`, for a branch without a ticket. */
  ticket: string | null;
  /** `svc.project.ticketPrefix` of the projects. */
  ticketPrefixes: readonly string[];
  /** The name of the run, which groups the orchestrator and its workers. */
  orchestration: string | null;
};

/** `resourceAttributes({ branch: 'kim/eng-12-login', … })` has `ticket.key` `ENG-12`. */
export function resourceAttributes(facts: ResourceFacts): Record<string, string> {
  const { branch, ticketPrefixes } = facts;
  return known({
    project: facts.project,
    hostname: facts.hostname,
    'git.branch': branch,
    'ticket.key': ticketNamed(branch ?? undefined, undefined, ticketPrefixes) ?? facts.ticket,
    'svc.orchestration': facts.orchestration,
  });
}

/** The value of `OTEL_RESOURCE_ATTRIBUTES`: `project=web,hostname=mini,git.branch=kim%2Feng-1,…` */
export function formatAttributes(attributes: Readonly<Record<string, string>>): string {
  return Object.entries(attributes)
    .map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`)
    .join(',');
}

function known(values: Readonly<Record<string, string | null | undefined>>): Record<string, string> {
  const attributes: Record<string, string> = {};
  for (const [name, value] of Object.entries(values)) {
    if (value !== null && value !== undefined && value !== '')
      attributes[name] = value.slice(0, LONGEST_ATTRIBUTE).toWellFormed();
  }
  return attributes;
}

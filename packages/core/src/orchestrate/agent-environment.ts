// What an agent sees of the environment: the ordinary variables, those that the project lets through, who it is,
// and the attributes of its telemetry. Nothing else of ours: no webhook secret, no tracker token.
import {
  formatAttributes,
  type ResourceFacts,
  resourceAttributes,
} from '../telemetry/resource-attributes.ts';
import { ownSecretVariables } from './secret-variables.ts';

const ordinary = ['PATH', 'HOME', 'LANG', 'TERM', 'USER', 'SHELL', 'TMPDIR'] as const;
const variableName = /^[A-Za-z_][A-Za-z0-9_]{0,199}$/;

export type AgentEnvironment = {
  environment: Record<string, string>;
  /** Names in `agentEnv` that are never let through, or are no names. */
  refused: string[];
};

export function agentEnvironment({
  inherited,
  agentEnv,
  secretNames,
  orchestrator,
  ticket,
  signalFile,
  inboxFile,
  telemetry,
}: {
  inherited: Readonly<Record<string, string | undefined>>;
  /** `svc.orchestration.agentEnv` */
  agentEnv: readonly string[];
  /** The variables that hold webhook secrets and the tracker's token, as configured. */
  secretNames: readonly string[];
  orchestrator: string;
  ticket: string;
  signalFile: string;
  /** What it is told, one JSON object in each line; there when there is something. */
  inboxFile: string;
  telemetry: ResourceFacts;
}): AgentEnvironment {
  const never = new Set([...ownSecretVariables, ...secretNames]);
  const isAllowed = (name: string): boolean => variableName.test(name) && !never.has(name);
  const environment: Record<string, string> = {};
  for (const name of [...ordinary, ...agentEnv].filter(isAllowed)) {
    const value = Object.hasOwn(inherited, name) ? inherited[name] : undefined;
    if (value !== undefined) environment[name] = value;
  }
  Object.assign(environment, {
    SVC_ORCHESTRATOR: orchestrator,
    SVC_TICKET: ticket,
    SVC_SIGNAL_FILE: signalFile,
    SVC_INBOX_FILE: inboxFile,
    SVC_AUTONOMOUS: '1',
    OTEL_RESOURCE_ATTRIBUTES: formatAttributes(resourceAttributes(telemetry)),
  });
  return { environment, refused: agentEnv.filter((name) => !isAllowed(name)) };
}

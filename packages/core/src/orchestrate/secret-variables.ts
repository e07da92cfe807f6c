// The variables that hold what is the daemon's alone. No program that it starts for a project needs them: not git
// with its hooks, no setup, no agent.
import type { Config } from '../config/schema/config.ts';

/** The names that webhook secrets, relay channels and their read keys have when the configuration gives them no other. */
export const ownSecretVariables: readonly string[] = [
  'SVC_WEBHOOK_SECRET',
  'SVC_TRACKER_WEBHOOK_SECRET',
  'SVC_RELAY_CHANNEL',
  'SVC_TRACKER_RELAY_CHANNEL',
  'SVC_RELAY_READ_KEY',
  'SVC_TRACKER_RELAY_READ_KEY',
];

/** Of webhook secrets and read keys, as a project names them. */
export function feedSecretVariables({ svc }: Config): string[] {
  return [svc.monitor.github, svc.monitor.linear].flatMap((feed) => [
    feed.webhookSecretEnv,
    feed.relayReadKeyEnv,
  ]);
}

/** Those of the feeds and the keys of model providers. */
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

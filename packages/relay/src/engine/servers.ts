// What the relay demands of the NATS servers, and what it can find out about them.
import type { NatsConnection } from '@nats-io/nats-core';
import { Refused } from './errors.ts';

const LEAST = '2.14.6';
const RECOMMENDED = '2.15.1';
/** Every server answers; allowed where the account imports it, as in examples/relay/nats/nats.conf. */
const SETTINGS_OF_ALL = '$SYS.REQ.SERVER.PING.VARZ';
const ANSWERS_WITHIN_MS = 2000;

type Settings = {
  server_name: string;
  version: string;
  cluster?: { name?: string };
  jetstream?: { config?: { sync_always?: boolean } };
};

/** Throws `Refused`. A version that cannot be read is too old as well. */
export function demandVersion(version: string | undefined): void {
  if (isAtLeast(version, LEAST)) return;
  throw new Refused(
    'server-too-old',
    `the NATS server is ${version ?? 'of an unknown version'}, and ${LEAST} or later is needed: older ones lose acknowledged ` +
      'messages when they compact (nats-server #8475), corrupt compressed blocks (#8312), and let replicas diverge at limits (#8265)',
    `Upgrade it to ${RECOMMENDED} or later.`,
  );
}

/** What an operator should change at the servers, in words; of each, as far as this login may ask. */
export async function serverWarnings(nats: NatsConnection): Promise<string[]> {
  const servers = await settingsOfAll(nats);
  const own = { server_name: 'the NATS server', version: nats.info?.version };
  const warnings = (servers.length === 0 ? [own] : servers)
    .filter(({ version }) => !isAtLeast(version, RECOMMENDED))
    .map(({ server_name: name, version }) => `${name} is ${version}: ${RECOMMENDED} or later is recommended`);
  if (!isClustered(nats)) return warnings;
  if (servers.length === 0)
    warnings.push(
      `whether every write is synced cannot be asked with this login: check that each server has sync_interval: always, or let the relay ask (${SETTINGS_OF_ALL}, as in examples/relay/nats/nats.conf)`,
    );
  const unsynced = servers.filter(({ jetstream }) => jetstream?.config?.sync_always !== true);
  if (unsynced.length > 0)
    warnings.push(
      `sync_interval: always is not set on ${unsynced.map(({ server_name: name }) => name).join(', ')}: a power cut of all servers loses acknowledged deliveries`,
    );
  return warnings;
}

export function isClustered({ info }: NatsConnection): boolean {
  return info?.cluster !== undefined && info.cluster !== '';
}

/** None where this login may not ask. */
async function settingsOfAll(nats: NatsConnection): Promise<Settings[]> {
  const found: Settings[] = [];
  try {
    const options = { strategy: 'stall', maxWait: ANSWERS_WITHIN_MS, stall: 500 } as const;
    for await (const message of await nats.requestMany(SETTINGS_OF_ALL, '', options))
      found.push(message.json<{ data: Settings }>().data);
  } catch {
    // Nobody answers, or it is forbidden: both mean that it cannot be asked.
    return [];
  }
  return found.filter((settings) => typeof settings?.server_name === 'string');
}

/** A preview of a version counts as that version. */
function isAtLeast(version: string | undefined, least: string): boolean {
  const [its, wanted] = [numbersOf(version ?? ''), numbersOf(least)];
  const at = wanted.findIndex((number, index) => (its[index] ?? 0) !== number);
  return at < 0 || (its[at] ?? 0) > (wanted[at] ?? 0);
}

function numbersOf(version: string): number[] {
  return (/^\d+\.\d+\.\d+/.exec(version)?.[0] ?? '0').split('.').map(Number);
}

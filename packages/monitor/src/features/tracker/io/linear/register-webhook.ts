// Registers the tracker's webhook. The order of the steps allows the next run to finish one that failed or was killed
// anywhere:
//
//   1. Write the relay channel to the global file before the tracker gets it. If killed after this, the next run uses
//      the same channel.
//   2. With --force delete the recorded webhook, then clear the record. If killed in between, the next deletion finds
//      nothing, which is fine.
//   3. Write the secret to its file before the webhook exists. If killed after creation, or without an answer, the next
//      run finds the webhook by its URL, and its secret is known.
//   4. Write the record last: a record means that webhook and secret are in place.
import { randomBytes } from 'node:crypto';
import type { WallClock } from '@svc/lib/clock';
import type { ConfigChange, ConfigStore } from '../../../../kernel/config/store.ts';
import { readSecretFile, removeSecretFile, writeSecretFile } from '../../../../kernel/disk/atomic-write.ts';
import { Failure } from '../../../../kernel/failure.ts';
import type { Config } from '../../../config.ts';
import { provesNoChange, type TrackerWebhook } from '../../api-answer.ts';
import {
  registrationIn,
  registrationStep,
  shortcomingsOf,
  trackerResourceTypes,
} from '../../registration.ts';
import { TrackerError } from '../tracker.ts';
import type { LinearClient } from './client.ts';

// The URL that the tracker should call: the given one, else the relay channel of this machine, else a new one.

type WebhookUrl =
  | { url: string; isChannel: boolean }
  /** No URL yet: a relay channel has to be made. */
  | undefined;

/**
 * The channel is that of `SVC_TRACKER_RELAY_CHANNEL`, else that of the global file, so a second run finds the URL of
 * the first. A record with the user's own URL keeps that URL.
 */
function knownWebhookUrl(config: Config, given: string | undefined): WebhookUrl {
  if (given !== undefined) return { url: checkedUrl(given), isChannel: false };
  const { smeeChannel } = config.svc.monitor.linear;
  if (smeeChannel !== undefined) return { url: smeeChannel, isChannel: true };
  const recorded = registrationIn(config)?.webhookUrl;
  return recorded === undefined ? undefined : { url: recorded, isChannel: false };
}

function checkedUrl(text: string): string {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol)) return text;
  throw new Failure('usage', `--webhook-url: expected an http or https URL, found ${JSON.stringify(text)}.`);
}

// Creates the tracker's webhook with a secret that we generate and write to its file before the webhook exists:
// whatever happens then, the secret of a created webhook is known.

type NewWebhookOptions = {
  client: LinearClient;
  url: string;
  teamId: string;
  label: string;
  secretFile: string;
  /** 32 random bytes in hex, unless a test replaces it. */
  newSecret?: (() => string) | undefined;
};

async function createWebhookWithSecret(options: NewWebhookOptions): Promise<TrackerWebhook> {
  const { client, url, teamId, label, secretFile, newSecret = randomSecret } = options;
  const secret = newSecret();
  const before = await readSecretFile(secretFile);
  await writeSecretFile(secretFile, secret);
  try {
    const resourceTypes = trackerResourceTypes;
    const webhook = await client.createWebhook({ url, teamId, resourceTypes, label, secret });
    // The secret in the tracker's answer is the one it signs with.
    if (webhook.secret !== null && webhook.secret !== secret)
      await writeSecretFile(secretFile, webhook.secret);
    return webhook;
  } catch (error) {
    if (error instanceof TrackerError && provesNoChange(error.problem)) await putBack(secretFile, before);
    throw error;
  }
}

/** The webhook was certainly not created: the previous content of the file may still be in use. */
async function putBack(secretFile: string, before: string | undefined): Promise<void> {
  if (before === undefined) await removeSecretFile(secretFile);
  else await writeSecretFile(secretFile, before);
}

function randomSecret(): string {
  return randomBytes(32).toString('hex');
}

export type RegisterOptions = {
  /** The configuration as it is on disk now: it contains the record. */
  config: Config;
  /** `--webhook-url` */
  webhookUrl?: string | undefined;
  force: boolean;
  /** The channel of this machine is at another relay than requested: make a new one. */
  newChannel?: boolean;
  /** Called only if the tracker has to be asked; fails if there is no token. */
  connect: () => LinearClient;
  store: Pick<ConfigStore, 'setMany'>;
  /** Makes a relay channel and returns its URL. */
  provisionChannel: () => Promise<string>;
  /** The tracker secret file. */
  secretFile: string;
  clock: WallClock;
  newSecret?: () => string;
  /** One line of progress for a person. */
  tell: (line: string) => void;
};

export type RegisteredWebhook = {
  outcome: 'already-registered' | 'reused' | 'created';
  webhookId: string;
  webhookUrl: string;
  /** `missing`: the webhook's secret is not known here; the remedy was printed. */
  secret: 'kept' | 'written' | 'missing';
};

export async function registerTrackerWebhook(options: RegisterOptions): Promise<RegisteredWebhook> {
  const { config, force, tell } = options;
  const known = options.newChannel ? undefined : knownWebhookUrl(config, options.webhookUrl);
  let record = registrationIn(config);
  let url = known?.url;
  let existing: TrackerWebhook[] | undefined;
  let opened: Opened | undefined;
  for (;;) {
    const next = registrationStep({ record, url, force, existing });
    if (next.step === 'refuse') throw refusal(next.recordedUrl);
    if (next.step === 'already-registered')
      return alreadyRegistered(options, next.webhookId, next.url, known);
    opened ??= await open(options, known);
    const { client, teamId } = opened;
    switch (next.step) {
      case 'make-channel':
        url = await makeChannel(options);
        break;
      case 'remove-recorded': {
        const wasThere = await client.deleteWebhook(next.webhookId);
        await clearRecord(options.store);
        tell(wasThere ? `Deleted webhook ${next.webhookId}` : `Webhook ${next.webhookId} was already gone`);
        [record, existing] = [undefined, []];
        break;
      }
      case 'list':
        existing = await client.listWebhooks();
        tell(`Webhooks at the tracker: ${existing.length}`);
        break;
      case 'reuse':
        return reuse(options, next.webhook, next.url, teamId);
      case 'create':
        return create(options, opened, next.url);
    }
  }
}

type Opened = { client: LinearClient; teamId: string };

/** Everything that is needed before anything is changed, here or at the tracker. */
async function open({ config, connect, store }: RegisterOptions, known: WebhookUrl): Promise<Opened> {
  const client = connect();
  const { teamId } = config.svc.tracker;
  if (teamId === null) {
    throw new Failure(
      'not-configured',
      'The project file has no id for its tracker team (svc.tracker.teamId).',
      'Look it up first: svc resolve-tracker-ids',
    );
  }
  if (known?.isChannel) await writeChannel(store, known.url);
  return { client, teamId };
}

async function makeChannel({ provisionChannel, store, tell }: RegisterOptions): Promise<string> {
  const url = await provisionChannel();
  await writeChannel(store, url);
  tell(`Created the relay channel ${url}`);
  return url;
}

async function alreadyRegistered(
  { store, secretFile, tell }: RegisterOptions,
  webhookId: string,
  webhookUrl: string,
  known: WebhookUrl,
): Promise<RegisteredWebhook> {
  if (known?.isChannel) await writeChannel(store, webhookUrl);
  tell(`The tracker webhook ${webhookId} is already registered for ${webhookUrl}`);
  const secret = await secretState(secretFile, tell);
  return { outcome: 'already-registered', webhookId, webhookUrl, secret };
}

async function reuse(
  { store, clock, secretFile, tell }: RegisterOptions,
  webhook: TrackerWebhook,
  webhookUrl: string,
  teamId: string,
): Promise<RegisteredWebhook> {
  const registeredAt = new Date(clock.now()).toISOString();
  await writeRecord(store, { webhookId: webhook.id, webhookUrl, registeredAt });
  tell(`The tracker already has a webhook for ${webhookUrl}; using it: ${webhook.id}`);
  for (const why of shortcomingsOf(webhook, teamId))
    tell(`warning: this webhook differs from one that svc creates: ${why}. To replace it, add --force.`);
  const secret = await secretState(secretFile, tell);
  return { outcome: 'reused', webhookId: webhook.id, webhookUrl, secret };
}

async function create(
  options: RegisterOptions,
  { client, teamId }: Opened,
  url: string,
): Promise<RegisteredWebhook> {
  const { config, store, clock, secretFile, newSecret, tell } = options;
  const label = ['svc', config.svc.projectKey].filter((word) => word !== undefined).join(' ');
  const webhook = await createWebhookWithSecret({ client, url, teamId, label, secretFile, newSecret });
  tell(`Created webhook ${webhook.id} for ${url}; its secret is in ${secretFile}`);
  const file = await writeRecord(store, {
    webhookId: webhook.id,
    webhookUrl: url,
    registeredAt: new Date(clock.now()).toISOString(),
    resourceTypes: trackerResourceTypes,
  });
  tell(`Wrote the record to ${file}`);
  return { outcome: 'created', webhookId: webhook.id, webhookUrl: url, secret: 'written' };
}

function refusal(recordedUrl: string | undefined): Failure {
  return new Failure(
    'registered-elsewhere',
    `A tracker webhook is registered for another URL: ${recordedUrl ?? '(none in the record)'}. The record was not changed.`,
    'To replace that webhook, add --force.',
  );
}

async function secretState(secretFile: string, tell: (line: string) => void): Promise<'kept' | 'missing'> {
  if ((await readSecretFile(secretFile)) !== undefined) return 'kept';
  tell(
    `warning: the tracker shows a webhook's secret only once, and ${secretFile} does not exist. Unless you have the secret elsewhere, deliveries cannot be verified: create a new webhook with --force.`,
  );
  return 'missing';
}

// Removes the tracker's webhook: at the tracker, then its secret, and the record last, so a run that fails or is killed
// anywhere can be repeated until all three are gone.

export type DeregisterOptions = {
  config: Config;
  connect: () => LinearClient;
  store: Pick<ConfigStore, 'setMany'>;
  secretFile: string;
  tell: (line: string) => void;
};

/** Returns the id of the removed webhook. */
export async function deregisterTrackerWebhook({
  config,
  connect,
  store,
  secretFile,
  tell,
}: DeregisterOptions): Promise<{ webhookId: string }> {
  const record = registrationIn(config);
  if (!record) {
    throw new Failure(
      'not-registered',
      'No tracker webhook is registered by this machine.',
      'See what is recorded: svc config explain svc.monitor.linear',
    );
  }
  const { webhookId } = record;
  const wasThere = await connect().deleteWebhook(webhookId);
  tell(wasThere ? `Deleted webhook ${webhookId}` : `No longer at the tracker: webhook ${webhookId}`);
  const wasRemoved = await removeSecretFile(secretFile);
  tell(wasRemoved ? `Removed ${secretFile}` : `No secret file to remove: ${secretFile}`);
  tell(`Cleared the record in ${await clearRecord(store)}`);
  return { webhookId };
}

// A registration is recorded in the global file. The webhook's secret has its own file.

const group = ['svc', 'monitor', 'linear'];

type Writing = Pick<ConfigStore, 'setMany'>;

type RecordToWrite = {
  webhookId: string;
  webhookUrl: string;
  registeredAt: string;
  /** Absent for a webhook that was found and reused. */
  resourceTypes?: readonly string[];
};

function writeRecord(store: Writing, record: RecordToWrite): Promise<string> {
  return store.setMany('global', changes(record));
}

function clearRecord(store: Writing): Promise<string> {
  return store.setMany('global', changes({}));
}

/** All four fields each time, so nothing of the previous record remains. */
function changes(record: Partial<RecordToWrite>): ConfigChange[] {
  return (['webhookId', 'webhookUrl', 'registeredAt', 'resourceTypes'] as const).map((name) => ({
    path: [...group, name],
    value: record[name],
  }));
}

/** The channel that delivers the tracker's events to the daemon of this machine. */
function writeChannel(store: Writing, url: string): Promise<string> {
  return store.setMany('global', [{ path: [...group, 'smeeChannel'], value: url }]);
}

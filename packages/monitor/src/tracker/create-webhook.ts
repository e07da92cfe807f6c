// Creates the tracker's webhook with a secret of our own making, which is in its file before the webhook
// exists: whatever happens then, the secret of a webhook that was created is known.
import { randomBytes } from 'node:crypto';
import { provesNoChange, type TrackerWebhook, trackerResourceTypes } from '@svc/core';
import { readSecretFile, removeSecretFile, writeSecretFile } from '../disk/secret-file.ts';
import type { TrackerClient } from './client.ts';
import { TrackerError } from './tracker-error.ts';

export type NewWebhookOptions = {
  client: TrackerClient;
  url: string;
  teamId: string;
  label: string;
  secretFile: string;
  /** 32 random bytes in hex, unless a test says otherwise. */
  newSecret?: (() => string) | undefined;
};

export async function createWebhookWithSecret(options: NewWebhookOptions): Promise<TrackerWebhook> {
  const { client, url, teamId, label, secretFile, newSecret = randomSecret } = options;
  const secret = newSecret();
  const before = await readSecretFile(secretFile);
  await writeSecretFile(secretFile, secret);
  try {
    const resourceTypes = trackerResourceTypes;
    const webhook = await client.createWebhook({ url, teamId, resourceTypes, label, secret });
    // What the tracker says that it signs with is what counts.
    if (webhook.secret !== null && webhook.secret !== secret)
      await writeSecretFile(secretFile, webhook.secret);
    return webhook;
  } catch (error) {
    if (error instanceof TrackerError && provesNoChange(error.problem)) await putBack(secretFile, before);
    throw error;
  }
}

/** The webhook was certainly not made: what the file held before may still be in use. */
async function putBack(secretFile: string, before: string | undefined): Promise<void> {
  if (before === undefined) await removeSecretFile(secretFile);
  else await writeSecretFile(secretFile, before);
}

function randomSecret(): string {
  return randomBytes(32).toString('hex');
}

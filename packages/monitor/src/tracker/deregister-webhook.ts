// Takes the tracker's webhook away: at the tracker, then its secret, and the record last, so that a run
// that fails or is killed anywhere can be repeated until all three are gone.
import { type Config, registrationIn } from '@svc/core';
import type { ConfigStore } from '../config/store.ts';
import { removeSecretFile } from '../disk/secret-file.ts';
import { Failure } from '../errors.ts';
import type { TrackerClient } from './client.ts';
import { clearRecord } from './registration-store.ts';

export type DeregisterOptions = {
  config: Config;
  connect: () => TrackerClient;
  store: Pick<ConfigStore, 'setMany'>;
  secretFile: string;
  tell: (line: string) => void;
};

/** Returns the id of the webhook that is gone. */
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

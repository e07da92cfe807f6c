// The next step in registering the tracker's webhook, decided by the record in the global file and the tracker's list.
// A registration that was interrupted at any step is finished by the next run.
import type { Config } from '../config.ts';
import { isSameUrl } from '../feeds/feed-channel.ts';
import type { TrackerWebhook } from './api-answer.ts';

/** What the webhook sends. `IssueRelation` is missing because the tracker does not deliver it. */
export const trackerResourceTypes = [
  'Issue',
  'Comment',
  'IssueLabel',
  'Cycle',
  'Reaction',
  'Project',
] as const;

/** The record of a registered webhook. One that was found and reused has no resource types. */
export type TrackerRegistration = {
  webhookId: string;
  webhookUrl: string | undefined;
};

export type RegistrationStep =
  | { step: 'already-registered'; webhookId: string; url: string }
  /** The record has another URL, and the user did not ask to replace it. */
  | { step: 'refuse'; recordedUrl: string | undefined }
  /** Create a relay channel; then decide again with its URL. */
  | { step: 'make-channel' }
  /** Delete the recorded webhook and clear the record; then decide again without it, with `existing: []`. */
  | { step: 'remove-recorded'; webhookId: string }
  /** List the tracker's webhooks; then decide again with them. */
  | { step: 'list' }
  | { step: 'reuse'; webhook: TrackerWebhook; url: string }
  | { step: 'create'; url: string };

export type RegistrationFacts = {
  record: TrackerRegistration | undefined;
  /** The URL that the tracker shall call; undefined until there is one. */
  url: string | undefined;
  /** Whether a recorded webhook is to be replaced. */
  force: boolean;
  /** The tracker's webhooks; undefined until they have been listed. */
  existing: readonly TrackerWebhook[] | undefined;
};

export function registrationStep({ record, url, force, existing }: RegistrationFacts): RegistrationStep {
  if (record && !force) {
    const { webhookId, webhookUrl } = record;
    const isSame = url !== undefined && isSameUrl(webhookUrl, url);
    return isSame
      ? { step: 'already-registered', webhookId, url }
      : { step: 'refuse', recordedUrl: webhookUrl };
  }
  if (url === undefined) return { step: 'make-channel' };
  if (record) return { step: 'remove-recorded', webhookId: record.webhookId };
  if (existing === undefined) return { step: 'list' };
  const matching = existing.filter((webhook) => isSameUrl(webhook.url, url));
  const webhook = matching.find(({ enabled }) => enabled) ?? matching[0];
  return webhook ? { step: 'reuse', webhook, url } : { step: 'create', url };
}

/** The record, if there is one. A URL without an id does not count, because a webhook is deleted by its id. */
export function registrationIn({ svc }: Config): TrackerRegistration | undefined {
  const { webhookId, webhookUrl } = svc.monitor.linear;
  return webhookId === undefined ? undefined : { webhookId, webhookUrl };
}

/** Why a reused webhook will not send everything that we want; empty if it will. */
export function shortcomingsOf(webhook: TrackerWebhook, teamId: string): string[] {
  const missing = trackerResourceTypes.filter((type) => !webhook.resourceTypes.includes(type));
  const covers = webhook.allPublicTeams || webhook.team === null || webhook.team.id === teamId;
  return [
    ...(webhook.enabled ? [] : ['it is disabled in the tracker']),
    ...(covers ? [] : ['it belongs to another team']),
    ...(missing.length === 0 ? [] : [`it does not send ${missing.join(', ')}`]),
  ];
}

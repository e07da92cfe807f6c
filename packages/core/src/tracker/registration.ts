// Registration of the tracker's webhook: what comes next. The record in the global file and what the
// tracker lists decide; a run that was cut off at any step is finished by the next one.
import type { Config } from '../config/schema/config.ts';
import type { TrackerWebhook } from './api-answer.ts';

/** What the webhook sends. `IssueRelation` is not here: the tracker does not deliver it. */
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
  /** The record holds another URL, and nobody said to replace it. */
  | { step: 'refuse'; recordedUrl: string | undefined }
  /** Make a relay channel; then decide again with its URL. */
  | { step: 'make-channel' }
  /** Delete the recorded webhook and clear the record; then decide again without it, with `existing: []`. */
  | { step: 'remove-recorded'; webhookId: string }
  /** List the tracker's webhooks; then decide again with them. */
  | { step: 'list' }
  | { step: 'reuse'; webhook: TrackerWebhook; url: string }
  | { step: 'create'; url: string };

export type RegistrationFacts = {
  record: TrackerRegistration | undefined;
  /** The URL that the tracker shall call; undefined as long as there is none. */
  url: string | undefined;
  /** Whether a recorded webhook is to be replaced. */
  force: boolean;
  /** What the tracker lists; undefined as long as it was not asked. */
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

/** URLs match ignoring case, as the tracker and the relay may write them differently. */
export function isSameUrl(one: string | null | undefined, other: string): boolean {
  return one?.toLowerCase() === other.toLowerCase();
}

/** The record, where there is one. A URL without an id is none: there is nothing to delete by it. */
export function registrationIn({ svc }: Config): TrackerRegistration | undefined {
  const { webhookId, webhookUrl } = svc.monitor.linear;
  return webhookId === undefined ? undefined : { webhookId, webhookUrl };
}

/** Why a webhook that is reused will not send all that we want, in words; none when it will. */
export function shortcomingsOf(webhook: TrackerWebhook, teamId: string): string[] {
  const missing = trackerResourceTypes.filter((type) => !webhook.resourceTypes.includes(type));
  const covers = webhook.allPublicTeams || webhook.team === null || webhook.team.id === teamId;
  return [
    ...(webhook.enabled ? [] : ['it is switched off at the tracker']),
    ...(covers ? [] : ['it belongs to another team']),
    ...(missing.length === 0 ? [] : [`it does not send ${missing.join(', ')}`]),
  ];
}

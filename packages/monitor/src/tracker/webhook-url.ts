// The URL that the tracker shall call: the one given, else the relay channel of this machine, else a new one.
import { type Config, registrationIn } from '@svc/core';
import { Failure } from '../errors.ts';

export type WebhookUrl =
  | { url: string; isChannel: boolean }
  /** There is none yet: a relay channel has to be made. */
  | undefined;

/**
 * The channel is that of `SVC_TRACKER_RELAY_CHANNEL`, else that of the global file, so that a second run
 * finds the URL of the first. A record made with a URL of the person's own is kept at that URL.
 */
export function knownWebhookUrl(config: Config, given: string | undefined): WebhookUrl {
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

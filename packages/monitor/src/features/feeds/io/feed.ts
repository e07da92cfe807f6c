// The two feeds that deliver to us, as data: where the signature and the delivery id are, and how a payload becomes an
// event. Only core knows the vendors' header names.
import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { type DeliveryHeader, type ReceivedHeaders } from '@svc/contract/vendor-names';
import type { Environment } from '../../../kernel/config/resolved-value.ts';
import type { Config } from '../../config.ts';
import { type DeliveryMeta, type FeedSecrets, type Mapping, SHORTEST_SECRET } from '../delivery.ts';

export type FeedName = 'codehost' | 'tracker';

export type Feed = {
  name: FeedName;
  path: '/api/webhook' | '/api/webhook/tracker';
  signatureHeader: DeliveryHeader;
  deliveryHeader: DeliveryHeader;
  /** The signature in hex, or undefined if the header is missing or malformed. */
  signatureIn: (headers: ReceivedHeaders) => string | undefined;
  map: (headers: ReceivedHeaders, payload: unknown, meta: DeliveryMeta) => Mapping;
  /** The time that the payload states; undefined if it has none. */
  sentAt: (payload: unknown) => number | undefined;
};

// HMAC-SHA256 over the raw bytes, compared in constant time against every configured secret.

/** Whether one of the secrets signs these bytes. Every secret is tried, so timing reveals nothing. */
export function isSignedBy(secrets: readonly string[], body: Uint8Array, signatureHex: string): boolean {
  const given = Buffer.from(signatureHex, 'hex');
  let signed = false;
  for (const secret of secrets) {
    const wanted = createHmac('sha256', secret).update(body).digest();
    if (wanted.length === given.length && timingSafeEqual(wanted, given)) signed = true;
  }
  return signed;
}

/** The same for the same signed bytes; it cannot be used to send them. */
export function signatureFingerprint(signatureHex: string): string {
  return hash('sha256', Buffer.from(signatureHex, 'hex'), 'base64url').slice(0, 22);
}

export function sign(secret: string, body: Uint8Array | string): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

// The secrets that deliveries are signed with. Only the environment variables that the configuration names are read.

export type Secrets = Record<FeedName, FeedSecrets>;

const isLong = ({ value }: { value: string }): boolean => value.length >= SHORTEST_SECRET;

/** Projects may name different variables: each of them is accepted. */
export function readSecrets(configs: readonly Config[], environment: Environment): Secrets {
  const named = (names: string[]): FeedSecrets => {
    const variables = [...new Set(names)];
    const given = variables.map((name) => ({ name, value: environment[name] ?? '' }));
    return {
      variables,
      values: [...new Set(given.filter(isLong).map(({ value }) => value))],
      short: given.filter((one) => one.value !== '' && !isLong(one)).map(({ name }) => name),
    };
  };
  return {
    codehost: named(configs.map(({ svc }) => svc.monitor.github.webhookSecretEnv)),
    tracker: named(configs.map(({ svc }) => svc.monitor.linear.webhookSecretEnv)),
  };
}

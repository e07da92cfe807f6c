// Channel ids: whoever knows one may send to the channel, so new ones cannot be guessed.
import { randomBytes } from 'node:crypto';

const accepted = /^[A-Za-z0-9_-]{1,128}$/;

/** 144 random bits: 24 characters without padding. */
export function newChannelId(random: (size: number) => Buffer = randomBytes): string {
  return random(18).toString('base64url');
}

/** Also ids of older relays, which are shorter. They are safe in a URL path and in a NATS subject. */
export function isChannelId(text: string): boolean {
  return accepted.test(text);
}

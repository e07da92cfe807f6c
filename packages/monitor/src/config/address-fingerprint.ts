// An address that is a key by itself, told apart from another without being told: the same that stands for a relay
// channel in event lines and at GET /api/feeds.
import { createHash } from 'node:crypto';
import { channelUrl } from '@svc/core';

const DIGITS = 16;

export function addressFingerprint(address: string): string {
  return createHash('sha256')
    .update(channelUrl(address) ?? address)
    .digest('hex')
    .slice(0, DIGITS);
}

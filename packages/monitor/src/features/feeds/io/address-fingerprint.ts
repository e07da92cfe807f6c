// A fingerprint of an address that is itself a secret. Event lines and GET /api/feeds use the same one for a relay
// channel.
import { createHash } from 'node:crypto';
import { channelUrl } from '../feed-channel.ts';

const DIGITS = 16;

export function addressFingerprint(address: string): string {
  return createHash('sha256')
    .update(channelUrl(address) ?? address)
    .digest('hex')
    .slice(0, DIGITS);
}

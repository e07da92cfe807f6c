// HMAC-SHA256 over the raw bytes, compared in constant time against every configured secret.
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';

/** A secret as a key, made once: preparing it costs as much as signing a small body. */
export function keyOf(secret: string): KeyObject {
  return createSecretKey(secret, 'utf8');
}

/** Whether one of the keys signs these bytes. Every key is tried, so that timing tells nothing. */
export function isSignedBy(keys: readonly KeyObject[], body: Uint8Array, signatureHex: string): boolean {
  const given = Buffer.from(signatureHex, 'hex');
  let signed = false;
  for (const key of keys) {
    const wanted = createHmac('sha256', key).update(body).digest();
    if (wanted.length === given.length && timingSafeEqual(wanted, given)) signed = true;
  }
  return signed;
}

export function sign(secret: string, body: Uint8Array | string): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

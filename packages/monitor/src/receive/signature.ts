// HMAC-SHA256 over the raw bytes, compared in constant time against every configured secret.
import { createHmac, timingSafeEqual } from 'node:crypto';

/** Whether one of the secrets signs these bytes. Every secret is tried, so that timing tells nothing. */
export function isSignedBy(secrets: readonly string[], body: Uint8Array, signatureHex: string): boolean {
  const given = Buffer.from(signatureHex, 'hex');
  let signed = false;
  for (const secret of secrets) {
    const wanted = createHmac('sha256', secret).update(body).digest();
    if (wanted.length === given.length && timingSafeEqual(wanted, given)) signed = true;
  }
  return signed;
}

export function sign(secret: string, body: Uint8Array | string): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

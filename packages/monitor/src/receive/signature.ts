// HMAC-SHA256 over the raw bytes, compared in constant time against every configured secret.
import { createHmac, hash, timingSafeEqual } from 'node:crypto';

/** Whether one of the secrets signs these bytes. Every secret is tried, so that timing reveals nothing. */
export function isSignedBy(secrets: readonly string[], body: Uint8Array, signatureHex: string): boolean {
  const given = Buffer.from(signatureHex, 'hex');
  let signed = false;
  for (const secret of secrets) {
    const wanted = createHmac('sha256', secret).update(body).digest();
    if (wanted.length === given.length && timingSafeEqual(wanted, given)) signed = true;
  }
  return signed;
}

/** The same for the same signed bytes, and of no use to whoever wants to send them. */
export function signatureFingerprint(signatureHex: string): string {
  return hash('sha256', Buffer.from(signatureHex, 'hex'), 'base64url').slice(0, 22);
}

export function sign(secret: string, body: Uint8Array | string): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

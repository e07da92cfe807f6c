// The cryptography of a team, all of it by Node's own crypto: a machine's keys, the encryption of values, and the wrapping of a
// team key for each member. The relay sees none of the keys.
//
// - A value is encrypted with the team key of an epoch (AES-256-GCM, a new random nonce each time). Channel, path, version
//   and epoch are additional data, so a value that was moved to another path, or given another version, cannot be opened.
// - A record is signed with the Ed25519 key of its machine, whose id is the hash of the public key.
//   It is padded to steps of 1 KiB, so its size says little about what it is.
// - A team key reaches a member in the roster, encrypted with a key that only that member and the administrator can derive
//   (X25519, HKDF-SHA-256). Channel, epoch and member are additional data.
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hash,
  type KeyObject,
  webcrypto,
} from 'node:crypto';
import {
  formatRecordPath,
  type RecordBody,
  type RecordKind,
  type StoredRecord,
  signedText,
} from '@svc/contract/relay/record';
import { createCache } from '@svc/lib/cache';

const { subtle } = webcrypto;
const text = (value: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(value));
const bytes = (value: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(value, 'base64url'));
const written = (value: ArrayBuffer | Uint8Array): string =>
  Buffer.from(value as Uint8Array).toString('base64url');

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const NOTHING = new Uint8Array(0);
const ID_CHARACTERS = 22;
const PADDED_TO_BYTES = 1024;

type PrivateKey = webcrypto.JsonWebKey;

/** Both private keys as JWK. */
export type MachineKeys = {
  id: string;
  signPublic: string;
  sign: PrivateKey;
  agreePublic: string;
  agree: PrivateKey;
};

export async function newMachineKeys(): Promise<MachineKeys> {
  const signing = (await subtle.generateKey('Ed25519', true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair;
  const agreeing = (await subtle.generateKey('X25519', true, ['deriveBits'])) as webcrypto.CryptoKeyPair;
  const sign = await subtle.exportKey('jwk', signing.privateKey);
  const agree = await subtle.exportKey('jwk', agreeing.privateKey);
  const signPublic = String(sign.x);
  return { id: await machineId(signPublic), signPublic, sign, agreePublic: String(agree.x), agree };
}

export async function machineId(signPublic: string): Promise<string> {
  return hash('sha256', bytes(signPublic), 'base64url').slice(0, ID_CHARACTERS);
}

export async function sha256Hex(value: string): Promise<string> {
  return Buffer.from(await subtle.digest('SHA-256', text(value))).toString('hex');
}

/** The same for two machines that have the same versions of the same paths. */
export function recordsDigest(records: readonly (readonly [path: string, version: number])[]): string {
  const lines = records.map(([path, version]) => `${path} ${version}`).toSorted();
  return hash('sha256', lines.join('\n'), 'base64url');
}

export function newKey(): string {
  return written(webcrypto.getRandomValues(new Uint8Array(32)));
}

/** The name of a thing in a path. Without the names key it cannot be guessed. */
export async function nameHash(namesKey: string, kind: RecordKind, key: string): Promise<string> {
  const mac = createHmac('sha256', secretKey(namesKey)).update(`${kind}\n${key}`);
  return mac.digest('base64url').slice(0, ID_CHARACTERS);
}

export type SealedPlace = { channel: string; machine: string; kind: RecordKind; hash: string };

function additionalData(
  { channel, ...path }: SealedPlace,
  version: number,
  epoch: number,
): Uint8Array<ArrayBuffer> {
  return text(`svc-team-value-1\n${channel}/${formatRecordPath(path)}\n${version}\n${epoch}`);
}

/** A team has thousands of records and few keys, and an import takes longer than the use of a key. */
const ofKeys = { now: () => performance.now(), lifetimeMs: 3_600_000, most: 2_000 };
const imported = createCache<webcrypto.CryptoKey>(ofKeys);
const secretKeys = createCache<KeyObject>(ofKeys);

async function importedOnce(
  name: string,
  importKey: () => Promise<webcrypto.CryptoKey>,
): Promise<webcrypto.CryptoKey> {
  const key = imported.get(name) ?? (await importKey());
  imported.set(name, key);
  return key;
}

function secretKey(name: string): KeyObject {
  const key = secretKeys.get(name) ?? createSecretKey(bytes(name));
  secretKeys.set(name, key);
  return key;
}

const newNonce = (): Uint8Array => webcrypto.getRandomValues(new Uint8Array(NONCE_BYTES));

// In this thread: a value has a kilobyte, and passing it to another thread takes longer than encrypting it.

/** Followed by the tag. */
function encrypted(key: string, nonce: Uint8Array, plain: Uint8Array, also: Uint8Array): Buffer {
  const cipher = createCipheriv(CIPHER, secretKey(key), nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(also);
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Undefined if it was not encrypted with this key and this additional data. */
function decrypted(key: string, nonce: Uint8Array, box: Uint8Array, also: Uint8Array): Buffer | undefined {
  const secret = secretKey(key);
  if (secret.symmetricKeySize !== KEY_BYTES || nonce.length !== NONCE_BYTES || box.length < TAG_BYTES)
    return undefined;
  const decipher = createDecipheriv(CIPHER, secret, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(also);
  decipher.setAuthTag(box.subarray(-TAG_BYTES));
  const plain = decipher.update(box.subarray(0, -TAG_BYTES));
  try {
    return Buffer.concat([plain, decipher.final()]);
  } catch {
    // The only reason: the tag is not that of this box.
    return undefined;
  }
}

/** With spaces, which JSON ignores. */
function padded(json: string): Uint8Array {
  const length = Buffer.byteLength(json);
  return Buffer.from(json + ' '.repeat(Math.ceil(length / PADDED_TO_BYTES) * PADDED_TO_BYTES - length));
}

/** The body of a record. `value` is JSON; null says that the thing no longer exists. */
export async function seal(
  place: SealedPlace,
  key: { epoch: number; key: string },
  version: number,
  value: { key: string; value: unknown },
): Promise<RecordBody> {
  const nonce = newNonce();
  const also = additionalData(place, version, key.epoch);
  const box = encrypted(key.key, nonce, padded(JSON.stringify(value)), also);
  return {
    version,
    epoch: key.epoch,
    nonce: written(nonce),
    box: written(box),
    ...(value.value === null && { gone: true }),
  };
}

/** Undefined if the key is wrong, or the record was changed or moved. */
export async function unseal(place: SealedPlace, key: string, body: RecordBody): Promise<unknown> {
  const also = additionalData(place, body.version, body.epoch);
  const opened = decrypted(key, bytes(body.nonce), bytes(body.box), also);
  if (opened === undefined) return undefined;
  try {
    return JSON.parse(opened.toString());
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export async function signRecord(
  keys: MachineKeys,
  channel: string,
  path: string,
  body: RecordBody,
): Promise<StoredRecord> {
  const key = await importedOnce(`sign ${keys.id}`, () =>
    subtle.importKey('jwk', keys.sign, 'Ed25519', false, ['sign']),
  );
  const bodyText = JSON.stringify(body);
  const signature = written(await subtle.sign('Ed25519', key, text(signedText(channel, path, bodyText))));
  return { path, signature, body: bodyText };
}

export async function isSigned(signPublic: string, channel: string, record: StoredRecord): Promise<boolean> {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: signPublic };
  const key = await importedOnce(`verify ${signPublic}`, () =>
    subtle.importKey('jwk', jwk, 'Ed25519', false, ['verify']),
  ).catch(() => undefined);
  if (key === undefined) return false;
  return subtle.verify(
    'Ed25519',
    key,
    bytes(record.signature),
    text(signedText(channel, record.path, record.body)),
  );
}

// Keys that two machines derive together, and keys from an invitation's secret.

/** Each roster needs two of every member. */
const sharedKeys = createCache<string>(ofKeys);

/** Only the two machines can derive it; another key for each use. */
export async function sharedKey(own: PrivateKey, otherPublic: string, use: string): Promise<string> {
  const name = `${own.x} ${otherPublic} ${use}`;
  const key = sharedKeys.get(name) ?? (await deriveShared(own, otherPublic, use));
  sharedKeys.set(name, key);
  return key;
}

async function deriveShared(own: PrivateKey, otherPublic: string, use: string): Promise<string> {
  const mine = await subtle.importKey('jwk', own, 'X25519', false, ['deriveBits']);
  const jwk = { kty: 'OKP', crv: 'X25519', x: otherPublic };
  const theirs = await subtle.importKey('jwk', jwk, 'X25519', false, []);
  const bits = await subtle.deriveBits({ name: 'X25519', public: theirs }, mine, 256);
  return derived(written(bits), use);
}

/** Whether the machine with this public key and this one can derive a key together. */
export async function canShareKey(own: PrivateKey, otherPublic: string): Promise<boolean> {
  return deriveShared(own, otherPublic, 'team key').then(
    () => true,
    () => false,
  );
}

/** Another key for each use. */
export async function derived(secret: string, use: string): Promise<string> {
  const key = await subtle.importKey('raw', bytes(secret), 'HKDF', false, ['deriveBits']);
  const bits = await subtle.deriveBits(
    { name: 'HKDF', hash: 'SHA-256', salt: NOTHING, info: text(`svc-team-1 ${use}`) },
    key,
    256,
  );
  return written(bits);
}

/** For whom a team key is wrapped, and which key it is. */
export type WrappedFor = { channel: string; epoch: number; member: string };

function wrappedData({ channel, epoch, member }: WrappedFor): Uint8Array {
  return text(`svc-team-key-1\n${channel}\n${epoch}\n${member}`);
}

/** A key, encrypted with another: the nonce, then the box. */
export async function wrapKey(key: string, wrapping: string, use: WrappedFor): Promise<string> {
  const nonce = newNonce();
  return written(Buffer.concat([nonce, encrypted(wrapping, nonce, bytes(key), wrappedData(use))]));
}

/** Undefined if it was not encrypted with this key, or for another use. */
export async function unwrapKey(
  wrapped: string,
  wrapping: string,
  use: WrappedFor,
): Promise<string | undefined> {
  const all = bytes(wrapped);
  const [nonce, box] = [all.subarray(0, NONCE_BYTES), all.subarray(NONCE_BYTES)];
  const key = decrypted(wrapping, nonce, box, wrappedData(use));
  return key && written(key);
}

// What a secret looks like. The project file is committed, so it must not contain anything like it.
const secretNames = /(?:token|secret|password|passphrase|api_?key|private_?key|credentials?)$/i;

const secretValues: readonly { pattern: RegExp; what: string }[] = [
  { pattern: /^gh[oprsu]_[A-Za-z0-9]{20,}/, what: 'a code-host token' },
  { pattern: /^github_pat_[A-Za-z0-9_]{20,}/, what: 'a code-host token' },
  { pattern: /^lin_(?:api|oauth|wh)_[A-Za-z0-9]{20,}/, what: 'an issue-tracker token' },
  { pattern: /^(?:sk|xai|gsk)-[A-Za-z0-9_-]{20,}/, what: 'a model provider key' },
  { pattern: /^xox[abprs]-[A-Za-z0-9-]{10,}/, what: 'a chat token' },
  { pattern: /^AKIA[0-9A-Z]{16}$/, what: 'a cloud access key' },
  { pattern: /-----BEGIN [A-Z ]*PRIVATE KEY-----/, what: 'a private key' },
  { pattern: /^[0-9a-f]{64}$/i, what: 'a 32-byte secret in hex' },
  { pattern: /^[a-z][a-z0-9+.-]*:\/\/[^/\s:@]+:[^/\s@]+@/i, what: 'a URL with a password' },
];

/** What kind of secret the value at this key looks like, if any. */
export function secretKind(keyName: string, value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  const byValue = secretValues.find(({ pattern }) => pattern.test(value));
  if (byValue) return byValue.what;
  return secretNames.test(keyName) ? 'a secret' : undefined;
}

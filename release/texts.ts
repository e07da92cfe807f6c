// What may not be written in any file of a package: places of the machine that built it, what looks like a secret,
// and the way to a source map. The report names the place and the kind, never the secret itself.

const SECRETS: readonly [kind: string, shape: RegExp][] = [
  ['a private key', /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----\s*[A-Za-z0-9+/=]{16}/],
  ['a token of the code host', /\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})/],
  ['a token of the tracker', /\blin_(?:api|oauth|wh)_[A-Za-z0-9]{20,}/],
  ['a key of a model provider', /\b(?:sk|xai)-[A-Za-z0-9_-]{24,}/],
  ['a key of a cloud', /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{35}/],
  ['a token of a registry', /\bnpm_[A-Za-z0-9]{36}\b|_authToken\s*=\s*[^\s$"'`]{8}/],
  ['a token of a messenger', /\bxox[abposr]-[A-Za-z0-9-]{20,}/],
  ['a signed token', /\beyJ[A-Za-z0-9_-]{16,}\.eyJ[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}/],
  ['an address with a password', /\b[a-z][a-z+.-]*:\/\/[^\s/:@"'`${}<>]+:[^\s/:@"'`${}<>]{6,}@[a-z0-9]/i],
];

/** `places`: folders of the machine that built it, such as the home of whoever did. */
export function textProblems(text: string, places: readonly string[]): string[] {
  const problems: string[] = [];
  for (const place of places) {
    const at = text.indexOf(place);
    if (at !== -1) problems.push(`line ${lineAt(text, at)} names a folder of this machine: ${place}`);
  }
  for (const [kind, shape] of SECRETS) {
    const at = text.search(shape);
    if (at !== -1) problems.push(`line ${lineAt(text, at)} has what looks like ${kind}`);
  }
  const map = text.search(/^\/[/*][#@] sourceMappingURL=/m);
  if (map !== -1) problems.push(`line ${lineAt(text, map)} points to a source map`);
  return problems;
}

const lineAt = (text: string, at: number): number => text.slice(0, at).split('\n').length;

/** Compressed files and pictures are not read: what they hold is beside them, or was drawn. */
export const isText = (path: string): boolean => !/\.(?:br|gz|woff2|png|ico|wasm)$/.test(path);

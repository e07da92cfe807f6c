// A short hash of a text, the same on every machine, for names. Not for secrets.

/** The bytes of the text. A pure file cannot use an encoder of the platform. */
export function utf8(text: string): number[] {
  const escaped = encodeURIComponent(text.toWellFormed());
  return [...escaped.matchAll(/%([0-9A-F]{2})|./g)].map(([one, hex]) =>
    hex === undefined ? one.charCodeAt(0) : Number.parseInt(hex, 16),
  );
}

/** FNV-1a over the bytes, 64 bits. */
export function hashText(text: string): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of utf8(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash;
}

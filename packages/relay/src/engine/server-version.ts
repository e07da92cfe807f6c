// What the server can do follows from its version.

/** `isAtLeast('2.11.3', 2, 11)`; false when the version is not known. */
export function isAtLeast(version: string | undefined, major: number, minor: number): boolean {
  const match = /^(\d+)\.(\d+)/.exec(version ?? '');
  if (match === null) return false;
  const [its, itsMinor] = [Number(match[1]), Number(match[2])];
  return its > major || (its === major && itsMinor >= minor);
}

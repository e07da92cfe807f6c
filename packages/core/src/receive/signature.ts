// Parses signature headers. Computing and comparing signatures needs a key and is done by the receiver.

const codehostSignature = /^sha256=([0-9a-f]{64})$/i;
const trackerSignature = /^[0-9a-f]{64}$/i;

/** The hex digits after `sha256=` in lower case; undefined for any other header. */
export function parseCodehostSignature(header: string | undefined): string | undefined {
  return codehostSignature.exec(header ?? '')?.[1]?.toLowerCase();
}

/** The hex digits in lower case; undefined for any other header. */
export function parseTrackerSignature(header: string | undefined): string | undefined {
  return trackerSignature.exec(header ?? '')?.[0].toLowerCase();
}

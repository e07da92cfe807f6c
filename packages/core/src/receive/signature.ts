// What a signature header holds. Computing and comparing signatures needs a key and is the receiver's work.

const codehostSignature = /^sha256=([0-9a-f]{64})$/i;
const trackerSignature = /^[0-9a-f]{64}$/i;

/** The hex digits behind `sha256=`, in small letters; undefined when the header is not of that form. */
export function parseCodehostSignature(header: string | undefined): string | undefined {
  return codehostSignature.exec(header ?? '')?.[1]?.toLowerCase();
}

/** The bare hex digits, in small letters; undefined when the header is not of that form. */
export function parseTrackerSignature(header: string | undefined): string | undefined {
  return trackerSignature.exec(header ?? '')?.[0].toLowerCase();
}

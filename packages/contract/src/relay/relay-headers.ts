// What a relay says about itself and about the deliveries that it lost.

// How our own relay differs from the public one on the wire. The public relay stores nothing, rewrites bodies, and its
// ids only count within one connection. Ours identifies itself by the header `X-Svc-Relay: 1` (or `1; ping=10`, its
// heartbeat in seconds) of every event stream. Only then
// - an id of the form `<epoch>.<seq>` is a position, and `Last-Event-ID` resumes after it;
// - `?raw=1` makes it send the bytes as they were signed;
// - `ready` may carry `{"position": "<epoch>.<seq>"}`, so a first connection can be resumed too, and so may a `ping`: a
//   quiet channel advances with its store, and does not get a gap after days of silence;
// - `gap` means that it no longer has what followed the position.

export const RELAY_HEADER = 'x-svc-relay';

/** The public relay's heartbeat. */
export const PUBLIC_PING_MS = 30_000;

export type RelayTraits = { ours: boolean; pingMs: number };

export type RelayGap = { requested: string | null; oldest: string | null };

/** `relayTraits('1; ping=10')` is ours, with a heartbeat every 10 s. */
export function relayTraits(announcement: string | undefined): RelayTraits {
  const [version, ...parameters] = (announcement ?? '').split(';').map((part) => part.trim());
  if (version !== '1') return { ours: false, pingMs: PUBLIC_PING_MS };
  const ping = parameters.find((parameter) => /^ping=\d{1,3}$/.test(parameter));
  const seconds = Number(ping?.slice('ping='.length) ?? 0);
  return { ours: true, pingMs: seconds > 0 ? seconds * 1000 : PUBLIC_PING_MS };
}

/** `0.17` is a position, the public relay's `17` is not. */
export function isRelayPosition(id: string | undefined): id is string {
  return id !== undefined && /^[A-Za-z0-9_-]{1,64}\.\d{1,19}$/.test(id);
}

/** The position in the data of a `ready` or `ping` frame, if it has one. */
export function positionInReady(data: string): string | null {
  const position = fieldOf(data, 'position');
  return isRelayPosition(position) ? position : null;
}

export function readGap(data: string): RelayGap {
  return { requested: fieldOf(data, 'requested') ?? null, oldest: fieldOf(data, 'oldest') ?? null };
}

function fieldOf(data: string, name: string): string | undefined {
  try {
    const value: unknown = JSON.parse(data);
    const field: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
    return typeof field === 'string' && field.length <= 100 ? field : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

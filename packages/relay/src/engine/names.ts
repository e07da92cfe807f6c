// Names of streams and subjects, and the shard of a channel. All of a relay's begin with its prefix, so that
// several relays can share one NATS account.

export const DEFAULT_PREFIX = 'svc-relay';
const prefixForm = /^[a-z][a-z0-9-]{0,30}$/;

export type Names = ReturnType<typeof namesFor>;

export function namesFor(prefix: string) {
  if (!prefixForm.test(prefix)) throw new RangeError(`not a prefix for streams: ${prefix}`);
  return {
    registryStream: `${prefix}-registry`,
    cursorStream: `${prefix}-cursors`,
    shardStream: (shard: number) => `${prefix}-shard-${String(shard).padStart(2, '0')}`,
    layout: `${prefix}.layout`,
    channel: (id: string) => `${prefix}.channel.${id}`,
    /** What was counted of a channel's bytes. */
    bytes: (id: string) => `${prefix}.bytes.${id}`,
    cursor: (channelId: string, subscriber: string) => `${prefix}.cursor.${channelId}.${subscriber}`,
    delivery: (shard: number, channelId: string) => `${prefix}.in.${shard}.${channelId}`,
    /** Where the stream repeats a delivery as soon as it is stored. */
    live: (shard: number, channelId: string) => `${prefix}.live.${shard}.${channelId}`,
    part: (shard: number, channelId: string, body: string, part: number | '*') =>
      `${prefix}.part.${shard}.${channelId}.${body}.${part}`,
    /** What the subjects of all parts of a channel begin with. */
    partsPrefix: (shard: number, channelId: string) => `${prefix}.part.${shard}.${channelId}.`,
  };
}

/** The same for ever: FNV-1a over the id. */
export function shardOf(channelId: string, { shards }: Pick<Layout, 'shards'>): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < channelId.length; at += 1) {
    hash = Math.imul(hash ^ channelId.charCodeAt(at), 0x01000193);
  }
  return (hash >>> 0) % shards;
}

/**
 * What `provision` decided and every relay process must agree on. It is kept in the registry stream, so that a process
 * needs to be told nothing but where NATS is.
 */
export type Layout = {
  /** Never changes: the shard of a channel follows from it. */
  shards: number;
  maxDeliveriesPerChannel: number;
  maxBytesPerChannel: number;
};

/** Undefined when it is not a layout, or one of a newer kind. */
export function readLayout(text: string): Layout | undefined {
  const { kind, shards, maxDeliveriesPerChannel, maxBytesPerChannel }: Partial<Layout & { kind: number }> =
    JSON.parse(text) ?? {};
  const numbers = [shards, maxDeliveriesPerChannel, maxBytesPerChannel];
  const [one = 0, two = 0, three = 0] = numbers;
  if (kind !== 1 || !numbers.every((number) => Number.isSafeInteger(number) && Number(number) > 0))
    return undefined;
  return { shards: one, maxDeliveriesPerChannel: two, maxBytesPerChannel: three };
}

export function writeLayout(layout: Layout): string {
  return JSON.stringify({ kind: 1, ...layout });
}

// Names of streams and subjects, and the shard of a channel. All of a relay's begin with its prefix, so that
// several relays can share one NATS account.
import type { Layout } from './layout.ts';

export const DEFAULT_PREFIX = 'svc-relay';
const prefixForm = /^[a-z][a-z0-9-]{0,30}$/;

export type Names = {
  registryStream: string;
  cursorStream: string;
  shardStream: (shard: number) => string;
  layout: string;
  channel: (id: string) => string;
  /** What was counted of a channel's bytes. */
  bytes: (id: string) => string;
  cursor: (channelId: string, subscriber: string) => string;
  delivery: (shard: number, channelId: string) => string;
  /** Where the stream repeats a delivery as soon as it is stored. */
  live: (shard: number, channelId: string) => string;
  part: (shard: number, channelId: string, body: string, part: number | '*') => string;
  /** What the subjects of all parts of a channel begin with. */
  partsPrefix: (shard: number, channelId: string) => string;
};

export function namesFor(prefix: string): Names {
  if (!prefixForm.test(prefix)) throw new RangeError(`not a prefix for streams: ${prefix}`);
  return {
    registryStream: `${prefix}-registry`,
    cursorStream: `${prefix}-cursors`,
    shardStream: (shard) => `${prefix}-shard-${String(shard).padStart(2, '0')}`,
    layout: `${prefix}.layout`,
    channel: (id) => `${prefix}.channel.${id}`,
    bytes: (id) => `${prefix}.bytes.${id}`,
    cursor: (channelId, subscriber) => `${prefix}.cursor.${channelId}.${subscriber}`,
    delivery: (shard, channelId) => `${prefix}.in.${shard}.${channelId}`,
    live: (shard, channelId) => `${prefix}.live.${shard}.${channelId}`,
    part: (shard, channelId, body, part) => `${prefix}.part.${shard}.${channelId}.${body}.${part}`,
    partsPrefix: (shard, channelId) => `${prefix}.part.${shard}.${channelId}.`,
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

// What a channel holds, and how far behind a position is.
import type { ByteLimit } from './byte-limit.ts';
import type { ChannelCount } from './channel-count.ts';
import type { DirectReads } from './direct-read.ts';
import type { Engine } from './engine.ts';
import type { Layout } from './layout.ts';
import { type Names, shardOf } from './names.ts';
import type { ShardStates } from './shard-states.ts';

export function createChannelStatus(given: {
  count: ChannelCount;
  reads: DirectReads;
  shards: ShardStates;
  byteLimit: ByteLimit;
  names: Names;
  layout: Layout;
}): Pick<Engine, 'status' | 'countAfter'> {
  const { count, reads, shards, byteLimit, names, layout } = given;

  return {
    async status(channelId) {
      const shard = shardOf(channelId, layout);
      const [stream, subject] = [names.shardStream(shard), names.delivery(shard, channelId)];
      const [{ epoch }, { stored, bytes }, first, last] = await Promise.all([
        shards.fresh(shard),
        count.weigh(stream, subject),
        reads.next(stream, subject, 1),
        reads.last(stream, subject),
      ]);
      return {
        stored,
        bytes: bytes ?? (await byteLimit.bytesAfter(channelId, (first?.seq ?? 1) - 1)),
        oldest: first === undefined ? null : { epoch, seq: first.seq, check: first.check },
        newest: last === undefined ? null : { epoch, seq: last.seq, check: last.check },
      };
    },
    async countAfter(channelId, position) {
      const shard = shardOf(channelId, layout);
      const { epoch, last } = await shards.fresh(shard);
      // A position of another life of the stream has everything still before it.
      const seq = position.epoch === epoch ? position.seq : 0;
      if (seq >= last) return 0;
      return count.countAfter(names.shardStream(shard), names.delivery(shard, channelId), seq);
    },
  };
}

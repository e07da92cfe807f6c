// Each shard's stream as its leader last reported it: the epoch, the range of sequences and the replicas. Followers that
// start at the same time share one request, which is sent after the last of them started to wait.
import type { StreamInfo } from '@nats-io/jetstream';
import { messageOf } from '@svc/lib/errors';
import { EngineUnavailable, type Names } from './engine.ts';
import type { Store } from './store.ts';

export type ShardState = {
  /** Identifies the stream: when it was created, in base 36. */
  epoch: string;
  /** The oldest sequence that is still kept for any channel of the shard. */
  first: number;
  last: number;
  /** Direct reads may be answered by a replica that is a little behind. */
  replicated: boolean;
};

export type ShardStates = ReturnType<typeof createShardStates>;

type Question = { current: Promise<ShardState>; next: Promise<ShardState> | undefined };

export function createShardStates(store: Store, names: Names) {
  const known = new Map<number, ShardState>();
  const questions = new Map<number, Question>();
  const failures = new Map<number, string>();
  const behind = new Map<string, string[]>();
  const listeners: ((shard: number) => void)[] = [];

  async function infoOf(stream: string): Promise<StreamInfo> {
    const info = await store.info(stream);
    if (info === undefined) throw new EngineUnavailable(`stream ${stream} is missing`);
    behind.set(stream, behindIn(info));
    return info;
  }

  async function ask(shard: number): Promise<ShardState> {
    try {
      const { created, state: range, config } = await infoOf(names.shardStream(shard));
      const epoch = Date.parse(created).toString(36);
      const state = {
        epoch,
        first: range.first_seq,
        last: range.last_seq,
        replicated: config.num_replicas > 1,
      };
      failures.delete(shard);
      const before = known.get(shard);
      known.set(shard, state);
      if (before !== undefined && before.epoch !== epoch) for (const listener of listeners) listener(shard);
      return state;
    } catch (error) {
      failures.set(shard, messageOf(error));
      throw error;
    }
  }

  function start(shard: number): Promise<ShardState> {
    const question: Question = { current: ask(shard), next: undefined };
    questions.set(shard, question);
    const over = (): void => {
      if (questions.get(shard) === question && question.next === undefined) questions.delete(shard);
    };
    question.current.then(over, over);
    return question.current;
  }

  return {
    /** The state at or after the call. */
    fresh(shard: number): Promise<ShardState> {
      const question = questions.get(shard);
      if (question === undefined) return start(shard);
      const again = (): Promise<ShardState> => start(shard);
      question.next ??= question.current.then(again, again);
      return question.next;
    },
    /** The last known state. */
    known: (shard: number): ShardState | undefined => known.get(shard),
    /** Shards that answered the last check, the last failure, and replicas that are not up to date. */
    answering: () => ({
      streams: [...known.keys()].filter((shard) => !failures.has(shard)).length,
      reason: failures.values().next().value ?? null,
      behind: [...behind].flatMap(([stream, servers]) => servers.map((server) => `${stream} on ${server}`)),
    }),
    /** Shards that did not answer the last check. */
    failing: (): number[] => [...failures.keys()],
    /** Checks the replicas of the other streams, which are not shards. */
    async checkOthers(): Promise<void> {
      await Promise.all([names.registryStream, names.cursorStream].map(infoOf));
    },
    onNewEpoch: (listener: (shard: number) => void): void => void listeners.push(listener),
  };
}

/** Only the leader knows this, and the leader answers. */
function behindIn({ cluster }: StreamInfo): string[] {
  const late = (cluster?.replicas ?? []).filter(({ current, offline }) => !current || offline);
  return late.map(({ name }) => name);
}

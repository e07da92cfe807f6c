// Each shard's stream as its leader last told it: the epoch and the range of sequences. Followers that start
// at the same time share one question, which is asked after the last of them began to wait.
import { EngineUnavailable } from './errors.ts';
import type { Names } from './names.ts';
import type { StreamApi, StreamInfo } from './stream-api.ts';

export type ShardState = {
  /** Names the life of the stream: when it was created, in base 36. */
  epoch: string;
  /** The oldest sequence that any channel of the shard may still have. */
  first: number;
  last: number;
  /** Direct reads may be answered by a replica that is a little behind. */
  replicated: boolean;
};

export type ShardStates = {
  /** As it is after the call. */
  fresh: (shard: number) => Promise<ShardState>;
  /** As it was last heard of. */
  known: (shard: number) => ShardState | undefined;
  /** Shards that answered when last asked, and what the last failure was. */
  answering: () => { streams: number; reason: string | null; behind: string[] };
  /** Another stream of the relay, of which only the replicas are of interest. */
  look: (stream: string) => Promise<void>;
  onNewEpoch: (listener: (shard: number, state: ShardState) => void) => void;
};

type Question = { current: Promise<ShardState>; next: Promise<ShardState> | undefined };

export function createShardStates(api: StreamApi, names: Names): ShardStates {
  const known = new Map<number, ShardState>();
  const questions = new Map<number, Question>();
  const failures = new Map<number, string>();
  const behind = new Map<string, string[]>();
  const listeners: ((shard: number, state: ShardState) => void)[] = [];

  async function ask(shard: number): Promise<ShardState> {
    try {
      const info = await api.info(names.shardStream(shard));
      if (info === undefined) throw new EngineUnavailable(`stream ${names.shardStream(shard)} is missing`);
      const state = {
        epoch: Date.parse(info.created).toString(36),
        first: info.state.first_seq,
        last: info.state.last_seq,
        replicated: info.config.num_replicas > 1,
      };
      failures.delete(shard);
      behind.set(names.shardStream(shard), behindIn(info));
      const before = known.get(shard);
      known.set(shard, state);
      if (before !== undefined && before.epoch !== state.epoch)
        for (const listener of listeners) listener(shard, state);
      return state;
    } catch (error) {
      failures.set(shard, error instanceof Error ? error.message : String(error));
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

  function fresh(shard: number): Promise<ShardState> {
    const question = questions.get(shard);
    if (question === undefined) return start(shard);
    const again = (): Promise<ShardState> => start(shard);
    question.next ??= question.current.then(again, again);
    return question.next;
  }

  return {
    fresh,
    known: (shard) => known.get(shard),
    answering: () => ({
      streams: [...known.keys()].filter((shard) => !failures.has(shard)).length,
      reason: failures.values().next().value ?? null,
      behind: [...behind].flatMap(([stream, servers]) => servers.map((server) => `${stream} on ${server}`)),
    }),
    async look(stream) {
      const info = await api.info(stream);
      if (info !== undefined) behind.set(stream, behindIn(info));
    },
    onNewEpoch: (listener) => void listeners.push(listener),
  };
}

/** Only the leader knows, and it is the leader that answers. */
function behindIn({ cluster }: StreamInfo): string[] {
  const late = (cluster?.replicas ?? []).filter(({ current, offline }) => !current || offline === true);
  return late.map(({ name }) => name);
}

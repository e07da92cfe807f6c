// The daemon's events, as they become durable. States:
//   connecting   no response yet, or between two attempts
//   live         events and heartbeats arrive
//   lost         the connection ended, went silent or was refused; retries without a limit, from the last event
import { ApiFailure, type EventLine, type FollowOptions } from '@svc/client';
import { client } from '../api/client.ts';

const AFTER_REFUSAL_MS = 5_000;

export type LinkState = { state: 'connecting' | 'live' | 'lost'; since: number; why: string | null };

export type LineStream = { state: () => LinkState; close: () => void };

export function openLineStream(options: {
  /** The filters for `/api/events/stream`; the position is added here. */
  query?: FollowOptions['query'];
  /** Start after this event; `now` starts with the next one. */
  after: number | 'now';
  onLines: (lines: EventLine[]) => void;
  onState: (state: LinkState) => void;
  onRefused?: (failure: ApiFailure) => void;
}): LineStream {
  const { query, onLines, onState, onRefused } = options;
  const closed = new AbortController();
  const { signal } = closed;
  let after = options.after === 'now' ? undefined : options.after;
  let link: LinkState = { state: 'connecting', since: Date.now(), why: null };

  const become = (state: LinkState['state'], why: string | null = null): void => {
    if (link.state === state) return;
    link = { state, since: Date.now(), why };
    onState(link);
  };

  async function follow(): Promise<void> {
    const lines = client.followBatches({
      query,
      after,
      signal,
      onLink(now) {
        if (now.state === 'lost') return become('lost', now.why);
        ({ after } = now);
        become('live');
      },
    });
    for await (const batch of lines) {
      after = batch.at(-1)?.seq ?? after;
      onLines(batch);
    }
  }

  void keepFollowing(follow, signal, (failure) => {
    become('lost', failure.message);
    onRefused?.(failure);
  });
  return { state: () => link, close: () => closed.abort() };
}

/** Follows a stream until `signal`, also after the daemon refused it. */
export async function keepFollowing(
  follow: () => Promise<void>,
  signal: AbortSignal,
  onRefused: (failure: ApiFailure) => void,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await follow();
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ApiFailure)) throw error;
      onRefused(error);
      await new Promise((resolve) => setTimeout(resolve, AFTER_REFUSAL_MS));
    }
  }
}

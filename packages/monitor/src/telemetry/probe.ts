// Whether a backend answers. It is probed regularly, so one that starts later is found, and the result of each query
// counts at once.
import type { BackendChoice, BackendName } from '@svc/core';
import { messageOf } from '@svc/lib/errors';
import { shownAddress } from './backend-call.ts';
import type { BackendProxy, ProxyOutcome } from './proxy.ts';

export const PROBE_EVERY_MS = 30_000;

type BackendState = {
  state: 'disabled' | 'connecting' | 'live' | 'degraded';
  /** When the state last changed. */
  since: string | null;
  why: string | null;
  remedy: string | null;
  url: string | null;
  lastAnswerAt: string | null;
};

export type BackendProbe = {
  /** Probes once. Never rejects: the result is the state. */
  check: () => Promise<void>;
  note: (outcome: ProxyOutcome, why: string | null) => void;
  state: () => BackendState;
};

/** A query that every version of the backend answers at no cost. */
const probePaths = { metrics: '/api/v1/query?query=vector(1)', logs: '/loki/api/v1/labels' } as const;

const REMEDY = 'Start it, or correct its URL (svc config explain otel); svc checks again every 30 s';

export function createBackendProbe(options: {
  name: BackendName;
  choice: BackendChoice;
  proxy: () => Pick<BackendProxy, 'probe'> | undefined;
  now: () => Date;
}): BackendProbe {
  const { choice, now } = options;
  let state: BackendState = choice.use
    ? { ...nothing, state: 'connecting', url: shownAddress(choice.url) }
    : { ...nothing, state: 'disabled', why: choice.why, remedy: choice.remedy };

  function become(next: 'live' | 'degraded', why: string | null): void {
    const at = now().toISOString();
    const since = state.state === next ? state.since : at;
    state = {
      ...state,
      state: next,
      since,
      why,
      remedy: why === null ? null : REMEDY,
      lastAnswerAt: why === null ? at : state.lastAnswerAt,
    };
  }

  return {
    async check() {
      try {
        await options.proxy()?.probe(probePaths[options.name]);
        if (choice.use) become('live', null);
      } catch (error) {
        become('degraded', messageOf(error));
      }
    },
    note(outcome, why) {
      if (outcome === 'answered') become('live', null);
      else if (outcome === 'failed' || outcome === 'slow') become('degraded', why);
    },
    state: () => state,
  };
}

const nothing = { since: null, why: null, remedy: null, url: null, lastAnswerAt: null };

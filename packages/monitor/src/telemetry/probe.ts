// Whether a backend is there. It is looked for every so often, so that one which starts later comes up by itself,
// and what questions to it find out counts at once.
import type { BackendChoice, BackendName } from '@svc/core';
import { messageOf } from '@svc/lib/errors';
import { shownAddress } from './backend-call.ts';
import type { BackendProxy, ProxyOutcome } from './proxy.ts';

export const PROBE_EVERY_MS = 30_000;

type BackendState = {
  state: 'disabled' | 'connecting' | 'live' | 'degraded';
  /** Since when it is so. */
  since: string | null;
  why: string | null;
  remedy: string | null;
  url: string | null;
  lastAnswerAt: string | null;
};

export type BackendProbe = {
  /** Looks once. Never rejects: what it finds is the state. */
  look: () => Promise<void>;
  note: (outcome: ProxyOutcome, why: string | null) => void;
  state: () => BackendState;
};

/** A question that every version of the backend answers, and that costs it nothing. */
const probePaths = { metrics: '/api/v1/query?query=vector(1)', logs: '/loki/api/v1/labels' } as const;

const REMEDY = 'Start it, or correct its URL (svc config explain otel); it is looked for again every 30 s';

export function createBackendProbe(options: {
  name: BackendName;
  choice: BackendChoice;
  proxy: () => Pick<BackendProxy, 'look'> | undefined;
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
    async look() {
      try {
        await options.proxy()?.look(probePaths[options.name]);
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

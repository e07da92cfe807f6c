import { Counter, type Registry } from 'prom-client';
import type { TokenUse } from '../../agents/prices.ts';
import type { ProviderName } from '../providers.ts';
import type { FailureKind } from './model-failure.ts';

// How often a provider may be called: a number of calls at once, and a minimum interval. A call that comes too early is
// refused with the time to retry and does not wait, so a burst costs nothing.

export type Lease = {
  /** Resolves when another call of the same lease may start, at the earliest after `waitMs`. */
  again: (waitMs: number, signal: AbortSignal) => Promise<void>;
  release: () => void;
};

export type Limiter = {
  take: () => { ok: true; lease: Lease } | { ok: false; retryAfterMs: number };
  /** The provider asked for a pause. */
  pause: (milliseconds: number) => void;
};

export const AT_ONCE = 2;
export const APART_MS = 500;
/** Longer requested pauses are cut to this. */
const LONGEST_PAUSE_MS = 60_000;

export function createLimiter({
  now,
  sleep,
}: {
  now: () => number;
  sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}): Limiter {
  let running = 0;
  /** The earliest time of the next start. */
  let next = Number.NEGATIVE_INFINITY;

  const lease = (): Lease => {
    let isHeld = true;
    return {
      async again(waitMs, signal) {
        // The time is reserved before the wait, so no other call starts at it.
        const start = Math.max(next, now() + waitMs);
        next = start + APART_MS;
        await sleep(start - now(), signal);
      },
      release() {
        if (isHeld) running -= 1;
        isHeld = false;
      },
    };
  };

  return {
    take() {
      const wait = next - now();
      if (wait > 0) return { ok: false, retryAfterMs: wait };
      if (running >= AT_ONCE) return { ok: false, retryAfterMs: APART_MS };
      running += 1;
      next = now() + APART_MS;
      return { ok: true, lease: lease() };
    },
    pause(milliseconds) {
      next = Math.max(next, now() + Math.min(milliseconds, LONGEST_PAUSE_MS));
    },
  };
}

// Calls of models and their cost, in Prometheus format.

export type Purpose = 'summary' | 'briefing';
type Label = { provider: ProviderName; purpose: Purpose };

export type ModelFigures = {
  called: (label: Label) => void;
  failed: (label: Label, kind: FailureKind) => void;
  /** `usd`: null if the model has no price. */
  used: (label: Label, use: TokenUse, usd: number | null) => void;
};

export function createModelFigures(registry: Registry): ModelFigures {
  const registers = [registry];
  const labels = ['provider', 'purpose'] as const;
  const calls = new Counter({
    name: 'svc_model_calls_total',
    help: 'Calls of model providers, each retry counted',
    labelNames: labels,
    registers,
  });
  const failures = new Counter({
    name: 'svc_model_failures_total',
    help: 'Calls of model providers that failed, by kind',
    labelNames: [...labels, 'kind'] as const,
    registers,
  });
  const tokens = new Counter({
    name: 'svc_model_tokens_total',
    help: 'Tokens by direction (input, output)',
    labelNames: [...labels, 'direction'] as const,
    registers,
  });
  const cost = new Counter({
    name: 'svc_model_cost_usd_total',
    help: 'Cost in US dollars by the price table, without the calls of svc_model_unpriced_calls_total',
    labelNames: labels,
    registers,
  });
  const unpriced = new Counter({
    name: 'svc_model_unpriced_calls_total',
    help: 'Calls of unknown cost: the price table does not have their model',
    labelNames: labels,
    registers,
  });
  return {
    called: (label) => calls.inc(label),
    failed: (label, kind) => failures.inc({ ...label, kind }),
    used(label, use, usd) {
      tokens.inc({ ...label, direction: 'input' }, use.input);
      tokens.inc({ ...label, direction: 'output' }, use.output);
      if (usd === null) unpriced.inc(label);
      else cost.inc(label, usd);
    },
  };
}

// Calls of models and their cost, in Prometheus format.
import type { ProviderName, TokenUse } from '@svc/core';
import { Counter, type Registry } from 'prom-client';
import type { FailureKind } from './model-failure.ts';

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

// Keys of `otel`.
import { z } from 'zod';
import { field, kinds, orNull } from '../../kernel/config/field.ts';

// The metrics and log backends: a top-level block outside `svc`.

const either = ['secrets', 'global'] as const;

const Otel = z
  .object({
    enabled: field(kinds.flag, {
      layers: either,
      description: 'Enable the endpoints that proxy metrics and log queries',
      env: 'OTEL_ENABLED',
      default: false,
    }),
    prometheusUrl: field(orNull(kinds.url), {
      layers: either,
      description: 'URL of the Prometheus query API',
      env: 'PROMETHEUS_URL',
      default: null,
    }),
    lokiUrl: field(orNull(kinds.url), {
      layers: either,
      description: 'URL of the Loki query API',
      env: 'LOKI_URL',
      default: null,
    }),
  })
  .prefault({});

/** Outside of `svc`. */
export const otelRootKeys = { otel: Otel };

// Deprecated names of the keys of the metrics and log backends.
import type { ConfigPart } from '../../kernel/config/configuration.ts';

export const otelConfig: ConfigPart = {
  deprecations: [
    {
      key: 'otel.prometheus',
      layers: ['secrets', 'global'],
      replacement: 'otel.prometheusUrl',
      remedy: 'Rename it to otel.prometheusUrl.',
      removedIn: '0.2.0',
    },
    {
      key: 'otel.loki',
      layers: ['secrets', 'global'],
      replacement: 'otel.lokiUrl',
      remedy: 'Rename it to otel.lokiUrl.',
      removedIn: '0.2.0',
    },
  ],
};

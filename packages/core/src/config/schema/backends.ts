// Top-level blocks outside `svc`: the metrics and log backends, and the archive.
import { z } from 'zod';
import { field, kinds, orNull, wholeNumber } from '../field.ts';

const either = ['secrets', 'global'] as const;
const global = ['global'] as const;

export const Otel = z
  .object({
    enabled: field(kinds.flag, {
      layers: either,
      description: 'Enables the metrics and log proxy endpoints',
      env: 'OTEL_ENABLED',
      default: false,
    }),
    prometheusUrl: field(orNull(kinds.url), {
      layers: either,
      description: 'Metrics query URL',
      env: 'PROMETHEUS_URL',
      default: null,
    }),
    lokiUrl: field(orNull(kinds.url), {
      layers: either,
      description: 'Log query URL',
      env: 'LOKI_URL',
      default: null,
    }),
  })
  .prefault({});

export const Archive = z
  .object({
    root: field(kinds.text, {
      layers: global,
      description: 'Root of archived blobs, one folder per orchestrator id',
      env: 'SVC_ARCHIVE_ROOT',
      default: '~/svc/archives',
    }),
    syncToThoughts: field(kinds.flag, {
      layers: global,
      description: 'Also copy the summary file to thoughts/shared/handoffs/',
      default: false,
    }),
    retention: z
      .object({
        days: field(orNull(wholeNumber(1)), {
          layers: global,
          description: 'Default age for archive prune; null never prunes',
          default: null,
        }),
      })
      .prefault({}),
  })
  .prefault({});

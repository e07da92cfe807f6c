// Every deprecated key and location, for the loader, doctor and docs. Each still works, with a warning, until the
// version in `removedIn`; the current key wins when one file sets both.
import type { Layer } from './field.ts';

export type Deprecation = {
  /** The key as it may still be written. */
  key: string;
  /** The files in which writing it is deprecated. */
  layers: readonly Layer[];
  /** The key that is read in its place. */
  replacement: string;
  remedy: string;
  removedIn: string;
};

export const deprecations: readonly Deprecation[] = [
  {
    key: 'svc.monitor.github.smeeChannel',
    layers: ['project'],
    replacement: 'svc.monitor.github.smeeChannel',
    remedy: 'Run svc setup-webhooks: it moves the channel to the global file.',
    removedIn: '0.2.0',
  },
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
];

export function deprecationOf(key: string, fileLayers: readonly Layer[]): Deprecation | undefined {
  return deprecations.find(
    (entry) => entry.key === key && entry.layers.some((layer) => fileLayers.includes(layer)),
  );
}

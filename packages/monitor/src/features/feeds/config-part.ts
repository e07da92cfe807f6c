// Deprecated places of the feeds' keys.
import type { ConfigPart } from '../../kernel/config/configuration.ts';

export const feedsConfig: ConfigPart = {
  deprecations: [
    {
      key: 'svc.monitor.github.smeeChannel',
      layers: ['project'],
      replacement: 'svc.monitor.github.smeeChannel',
      remedy: 'Run svc setup-webhooks: it moves the channel to the global file.',
      removedIn: '0.2.0',
    },
  ],
};

// The daemon's feeds. `github`, `linear` and `smee` are literal keys of the interface.
import { z } from 'zod';
import { field, kinds, optionalField } from '../field.ts';

const project = ['project'] as const;
const global = ['global'] as const;

const CodehostFeed = z
  .object({
    smeeChannel: optionalField(kinds.url, {
      layers: global,
      description: 'Relay channel URL of this machine for code-host deliveries',
      env: 'SVC_RELAY_CHANNEL',
      opens: 'channel',
    }),
    relayReadKeyEnv: field(kinds.environmentName, {
      layers: global,
      description: 'Name of the variable that holds the read key of the code-host channel, where it has one',
      default: 'SVC_RELAY_READ_KEY',
    }),
    webhookSecretEnv: field(kinds.secretName, {
      layers: project,
      description: 'Name of the variable that holds the code-host HMAC secret',
      default: 'SVC_WEBHOOK_SECRET',
    }),
    watchRepos: field(kinds.repoList, {
      layers: project,
      description: 'Repositories subscribed at startup, besides those found in signal files',
      default: [],
    }),
    hookRepos: field(kinds.repoList, {
      layers: global,
      description:
        'Watched repositories that you confirmed: a hook is made there, as it is in the project’s own',
      default: [],
    }),
  })
  .prefault({});

const TrackerFeed = z
  .object({
    smeeChannel: optionalField(kinds.url, {
      layers: global,
      description: 'Relay channel URL of this machine for issue-tracker deliveries',
      env: 'SVC_TRACKER_RELAY_CHANNEL',
      opens: 'channel',
    }),
    relayReadKeyEnv: field(kinds.environmentName, {
      layers: global,
      description: 'Name of the variable that holds the read key of the tracker channel, where it has one',
      default: 'SVC_TRACKER_RELAY_READ_KEY',
    }),
    webhookSecretEnv: field(kinds.secretName, {
      layers: project,
      description: 'Name of the variable that holds the tracker HMAC secret',
      default: 'SVC_TRACKER_WEBHOOK_SECRET',
    }),
    webhookId: optionalField(kinds.text, {
      layers: global,
      description: 'Id of the registered tracker webhook',
    }),
    webhookUrl: optionalField(kinds.url, {
      layers: global,
      description: 'URL of the registered tracker webhook',
      opens: 'channel',
    }),
    registeredAt: optionalField(kinds.time, {
      layers: global,
      description: 'When the tracker webhook was registered',
    }),
    resourceTypes: optionalField(kinds.list, {
      layers: global,
      description: 'Resource types of the registered tracker webhook',
    }),
  })
  .prefault({});

export const Monitor = z
  .object({
    github: CodehostFeed,
    linear: TrackerFeed,
    suppressVersionWarning: field(kinds.flag, {
      layers: project,
      description: 'Suppresses the version-drift warning',
      default: false,
    }),
  })
  .prefault({});

// The daemon's feeds. `github`, `linear` and `smee` are literal keys of the interface.
import { z } from 'zod';
import { field, inGlobal, inProject, kinds, optionalField } from '../../kernel/config/field.ts';

const CodehostFeed = z
  .object({
    smeeChannel: optionalField(kinds.url, {
      layers: inGlobal,
      description: 'This machine’s relay channel URL for code-host deliveries',
      env: 'SVC_RELAY_CHANNEL',
      opens: 'channel',
    }),
    relayReadKeyEnv: field(kinds.environmentName, {
      layers: inGlobal,
      description: 'Name of the variable with the read key of the code-host channel, if it needs one',
      default: 'SVC_RELAY_READ_KEY',
    }),
    webhookSecretEnv: field(kinds.secretName, {
      layers: inProject,
      description: 'Name of the variable with the code-host webhook (HMAC) secret',
      default: 'SVC_WEBHOOK_SECRET',
    }),
    watchRepos: field(kinds.repoList, {
      layers: inProject,
      description: 'Repositories to watch from startup, in addition to those found in signal files',
      default: [],
    }),
    hookRepos: field(kinds.repoList, {
      layers: inGlobal,
      description:
        'Watched repositories, besides the project’s own, in which you allowed svc to create a webhook',
      default: [],
    }),
    pollRepos: field(kinds.repoList, {
      layers: inGlobal,
      description: 'Repositories that are only polled: no webhook is created there',
      default: [],
    }),
  })
  .prefault({});

const TrackerFeed = z
  .object({
    smeeChannel: optionalField(kinds.url, {
      layers: inGlobal,
      description: 'This machine’s relay channel URL for issue-tracker deliveries',
      env: 'SVC_TRACKER_RELAY_CHANNEL',
      opens: 'channel',
    }),
    relayReadKeyEnv: field(kinds.environmentName, {
      layers: inGlobal,
      description: 'Name of the variable with the read key of the tracker channel, if it needs one',
      default: 'SVC_TRACKER_RELAY_READ_KEY',
    }),
    webhookSecretEnv: field(kinds.secretName, {
      layers: inProject,
      description: 'Name of the variable with the tracker webhook (HMAC) secret',
      default: 'SVC_TRACKER_WEBHOOK_SECRET',
    }),
    webhookId: optionalField(kinds.text, {
      layers: inGlobal,
      description: 'Id of the registered tracker webhook; written by svc',
    }),
    webhookUrl: optionalField(kinds.url, {
      layers: inGlobal,
      description: 'URL of the registered tracker webhook; written by svc',
      opens: 'channel',
    }),
    registeredAt: optionalField(kinds.time, {
      layers: inGlobal,
      description: 'Time at which the tracker webhook was registered; written by svc',
    }),
    resourceTypes: optionalField(kinds.list, {
      layers: inGlobal,
      description: 'Resource types that the registered tracker webhook reports; written by svc',
    }),
  })
  .prefault({});

const Monitor = z
  .object({
    github: CodehostFeed,
    linear: TrackerFeed,
    suppressVersionWarning: field(kinds.flag, {
      layers: inProject,
      description: 'Suppress the warning that a newer version is installed',
      default: false,
    }),
  })
  .prefault({});

export const feedsKeys = { monitor: Monitor };

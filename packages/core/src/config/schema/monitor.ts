// The daemon's feeds. `github`, `linear` and `smee` are literal keys of the interface.
import { z } from 'zod';
import { DEFAULT_BRIEFING_MODEL, DEFAULT_SUMMARY_MODEL, providerNames } from '../../summarize/providers.ts';
import { neutralProvider } from '../../vendor-names.ts';
import { field, kinds, oneOf, optionalField, orNull, wholeNumber } from '../field.ts';
import { safeUrl } from './notify.ts';

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

// Top-level blocks outside `svc`: the metrics and log backends, and the archive.

const either = ['secrets', 'global'] as const;

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

// Summaries (svc.ai, project file) and the briefing (ai, secrets file).

const neutralProviderName = (value: unknown) => (typeof value === 'string' ? neutralProvider(value) : value);
const secrets = ['secrets'] as const;

export const Summaries = z
  .object({
    enabled: field(kinds.flag, {
      layers: project,
      description: 'Master toggle; no provider is called when off',
      default: false,
    }),
    defaultProvider: field(oneOf(providerNames), {
      layers: project,
      description: 'Provider of a summary request that names none',
      default: 'provider-a',
      canonical: neutralProviderName,
    }),
    defaultModel: field(kinds.text, {
      layers: project,
      description: 'Model of a summary request that names none',
      default: DEFAULT_SUMMARY_MODEL,
    }),
    providers: z
      .partialRecord(
        z.enum(providerNames),
        z.object({
          apiKeyEnv: optionalField(kinds.environmentName, {
            layers: project,
            description: "Name of the environment variable that holds the provider's key",
          }),
          // Never of the project file: whoever can change a repository must not say where a key is sent.
          baseUrl: optionalField(safeUrl, {
            layers: ['secrets', 'global'],
            description: "Base URL of the provider's API, instead of the vendor's own",
          }),
        }),
      )
      .prefault({}),
  })
  .prefault({});

export const Briefing = z
  .object({
    gateway: optionalField(safeUrl, { layers: secrets, description: 'Gateway URL of the briefing' }),
    provider: field(oneOf(['provider-a', 'provider-b']), {
      layers: secrets,
      description: 'Model vendor of the briefing',
      default: 'provider-a',
      canonical: neutralProviderName,
    }),
    model: field(kinds.text, {
      layers: secrets,
      description: 'Model id of the briefing',
      default: DEFAULT_BRIEFING_MODEL,
    }),
    apiKey: optionalField(kinds.text, { layers: secrets, description: 'Gateway API key', secret: true }),
    autoRefreshSec: field(orNull(wholeNumber(60)), {
      layers: secrets,
      description: 'Seconds after which the briefing is written anew by itself; null: only on demand',
      default: null,
    }),
  })
  .prefault({});

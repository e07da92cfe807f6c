// The daemon's feeds. `github`, `linear` and `smee` are literal keys of the interface.
import { neutralProvider } from '@svc/contract/vendor-names';
import { z } from 'zod';
import { field, kinds, oneOf, optionalField, orNull, wholeNumber } from '../../kernel/config/field.ts';
import { safeUrl } from '../attention/config.ts';
import { DEFAULT_BRIEFING_MODEL, DEFAULT_SUMMARY_MODEL, providerNames } from '../summaries/providers.ts';
import { commandVerbs } from '../team/command.ts';

const project = ['project'] as const;
const global = ['global'] as const;

const CodehostFeed = z
  .object({
    smeeChannel: optionalField(kinds.url, {
      layers: global,
      description: 'This machine’s relay channel URL for code-host deliveries',
      env: 'SVC_RELAY_CHANNEL',
      opens: 'channel',
    }),
    relayReadKeyEnv: field(kinds.environmentName, {
      layers: global,
      description: 'Name of the variable with the read key of the code-host channel, if it needs one',
      default: 'SVC_RELAY_READ_KEY',
    }),
    webhookSecretEnv: field(kinds.secretName, {
      layers: project,
      description: 'Name of the variable with the code-host webhook (HMAC) secret',
      default: 'SVC_WEBHOOK_SECRET',
    }),
    watchRepos: field(kinds.repoList, {
      layers: project,
      description: 'Repositories to watch from startup, in addition to those found in signal files',
      default: [],
    }),
    hookRepos: field(kinds.repoList, {
      layers: global,
      description:
        'Watched repositories, besides the project’s own, in which you allowed svc to create a webhook',
      default: [],
    }),
    pollRepos: field(kinds.repoList, {
      layers: global,
      description: 'Repositories that are only polled: no webhook is created there',
      default: [],
    }),
  })
  .prefault({});

const TrackerFeed = z
  .object({
    smeeChannel: optionalField(kinds.url, {
      layers: global,
      description: 'This machine’s relay channel URL for issue-tracker deliveries',
      env: 'SVC_TRACKER_RELAY_CHANNEL',
      opens: 'channel',
    }),
    relayReadKeyEnv: field(kinds.environmentName, {
      layers: global,
      description: 'Name of the variable with the read key of the tracker channel, if it needs one',
      default: 'SVC_TRACKER_RELAY_READ_KEY',
    }),
    webhookSecretEnv: field(kinds.secretName, {
      layers: project,
      description: 'Name of the variable with the tracker webhook (HMAC) secret',
      default: 'SVC_TRACKER_WEBHOOK_SECRET',
    }),
    webhookId: optionalField(kinds.text, {
      layers: global,
      description: 'Id of the registered tracker webhook; written by svc',
    }),
    webhookUrl: optionalField(kinds.url, {
      layers: global,
      description: 'URL of the registered tracker webhook; written by svc',
      opens: 'channel',
    }),
    registeredAt: optionalField(kinds.time, {
      layers: global,
      description: 'Time at which the tracker webhook was registered; written by svc',
    }),
    resourceTypes: optionalField(kinds.list, {
      layers: global,
      description: 'Resource types that the registered tracker webhook reports; written by svc',
    }),
  })
  .prefault({});

export const Monitor = z
  .object({
    github: CodehostFeed,
    linear: TrackerFeed,
    suppressVersionWarning: field(kinds.flag, {
      layers: project,
      description: 'Suppress the warning that a newer version is installed',
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

export const Archive = z
  .object({
    root: field(kinds.text, {
      layers: global,
      description: 'Folder for archived runs, with one subfolder per orchestrator id',
      env: 'SVC_ARCHIVE_ROOT',
      default: '~/svc/archives',
    }),
    syncToThoughts: field(kinds.flag, {
      layers: global,
      description: 'Also copy the summary to thoughts/shared/handoffs/',
      default: false,
    }),
    retention: z
      .object({
        days: field(orNull(wholeNumber(1)), {
          layers: global,
          description: 'Age in days after which `svc archive prune` removes an archive; null: never',
          default: null,
        }),
      })
      .prefault({}),
  })
  .prefault({});

/** Only in the user's own file: a committed file must not remove anything of this machine. */
const keptFor = (what: string) =>
  field(orNull(wholeNumber(1)), {
    layers: global,
    description: `Age in days after which \`svc retention\` removes ${what}; null: never`,
    default: null,
  });

export const Retention = z
  .object({
    automatic: field(kinds.flag, {
      layers: global,
      description: 'Let the daemon remove by itself what `svc retention` lists for a day',
      default: false,
    }),
    worktreeDays: keptFor('the worktree of an ended run, if it is clean and pushed'),
    runDays: keptFor('the files of an ended run, if they are archived'),
    journalDays: keptFor("the output of an ended run's agents, if it is archived"),
    logDays: keptFor('a rotated log of the daemon'),
  })
  .prefault({});

// Summaries (svc.ai, project file) and the briefing (ai, secrets file).

const neutralProviderName = (value: unknown) => (typeof value === 'string' ? neutralProvider(value) : value);
const secrets = ['secrets'] as const;

export const Summaries = z
  .object({
    enabled: field(kinds.flag, {
      layers: project,
      description: 'Enable summaries; when false, no model provider is called',
      default: false,
    }),
    defaultProvider: field(oneOf(providerNames), {
      layers: project,
      description: 'Provider for summary requests that do not name one',
      default: 'provider-a',
      canonical: neutralProviderName,
    }),
    defaultModel: field(kinds.text, {
      layers: project,
      description: 'Model for summary requests that do not name one',
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
          // Never from the project file: a commit must not be able to redirect a key.
          baseUrl: optionalField(safeUrl, {
            layers: ['secrets', 'global'],
            description: "Base URL of the provider's API, if it is not the vendor's default",
          }),
        }),
      )
      .prefault({}),
  })
  .prefault({});

export const Briefing = z
  .object({
    gateway: optionalField(safeUrl, {
      layers: secrets,
      opens: 'gateway',
      description: 'Gateway URL for the briefing',
    }),
    provider: field(oneOf(['provider-a', 'provider-b']), {
      layers: secrets,
      description: 'Model vendor for the briefing',
      default: 'provider-a',
      canonical: neutralProviderName,
    }),
    model: field(kinds.text, {
      layers: secrets,
      description: 'Model id for the briefing',
      default: DEFAULT_BRIEFING_MODEL,
    }),
    apiKey: optionalField(kinds.text, { layers: secrets, description: 'Gateway API key', secret: true }),
    autoRefreshSec: field(orNull(wholeNumber(60)), {
      layers: secrets,
      description: 'Refresh the briefing after this many seconds; null: only on demand',
      default: null,
    }),
  })
  .prefault({});

/** Only in the user's file: no repository decides what members of the team may do on this machine. */
export const Team = z
  .object({
    allow: field(
      {
        schema: z.record(z.string().min(1).max(120), z.array(z.enum(commandVerbs))),
        expects: `an object of id:<id>, machine:<name>, person:<name> or * with lists of ${commandVerbs.join(', ')}`,
      },
      {
        layers: ['global'],
        description:
          'What members of the team may do on this machine, by id:<id>, machine:<name>, person:<name> or * for all',
        default: { '*': ['hand-over'] },
      },
    ),
    shareTitles: field(kinds.flag, {
      layers: global,
      description: 'Whether members of the team see the titles of the tickets that this machine works on',
      default: false,
    }),
  })
  .prefault({});

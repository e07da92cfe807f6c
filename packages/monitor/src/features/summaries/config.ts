// Keys of `svc.ai` and `ai`.
import { neutralProvider } from '@svc/contract/vendor-names';
import { z } from 'zod';
import {
  field,
  inProject,
  inSecrets,
  kinds,
  oneOf,
  optionalField,
  orNull,
  wholeNumber,
} from '../../kernel/config/field.ts';
import { safeUrl } from '../attention/config.ts';
import { DEFAULT_BRIEFING_MODEL, DEFAULT_SUMMARY_MODEL, providerNames } from './providers.ts';

// Summaries (svc.ai, project file) and the briefing (ai, secrets file).

const neutralProviderName = (value: unknown) => (typeof value === 'string' ? neutralProvider(value) : value);

const Summaries = z
  .object({
    enabled: field(kinds.flag, {
      layers: inProject,
      description: 'Enable summaries; when false, no model provider is called',
      default: false,
    }),
    defaultProvider: field(oneOf(providerNames), {
      layers: inProject,
      description: 'Provider for summary requests that do not name one',
      default: 'provider-a',
      canonical: neutralProviderName,
    }),
    defaultModel: field(kinds.text, {
      layers: inProject,
      description: 'Model for summary requests that do not name one',
      default: DEFAULT_SUMMARY_MODEL,
    }),
    providers: z
      .partialRecord(
        z.enum(providerNames),
        z.object({
          apiKeyEnv: optionalField(kinds.environmentName, {
            layers: inProject,
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

const Briefing = z
  .object({
    gateway: optionalField(safeUrl, {
      layers: inSecrets,
      opens: 'gateway',
      description: 'Gateway URL for the briefing',
    }),
    provider: field(oneOf(['provider-a', 'provider-b']), {
      layers: inSecrets,
      description: 'Model vendor for the briefing',
      default: 'provider-a',
      canonical: neutralProviderName,
    }),
    model: field(kinds.text, {
      layers: inSecrets,
      description: 'Model id for the briefing',
      default: DEFAULT_BRIEFING_MODEL,
    }),
    apiKey: optionalField(kinds.text, { layers: inSecrets, description: 'Gateway API key', secret: true }),
    autoRefreshSec: field(orNull(wholeNumber(60)), {
      layers: inSecrets,
      description: 'Refresh the briefing after this many seconds; null: only on demand',
      default: null,
    }),
  })
  .prefault({});

export const summariesKeys = { ai: Summaries };

/** Outside of `svc`. */
export const summariesRootKeys = { ai: Briefing };

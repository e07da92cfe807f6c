// Summaries (svc.ai, project file) and the briefing (ai, secrets file).
import { z } from 'zod';
import {
  DEFAULT_BRIEFING_MODEL,
  DEFAULT_SUMMARY_MODEL,
  providerNames,
} from '../../summarize/provider-names.ts';
import { neutralProvider } from '../../vendor-names.ts';
import { field, kinds, oneOf, optionalField, orNull, wholeNumber } from '../field.ts';
import { safeUrl } from './notify.ts';

const neutralProviderName = (value: unknown) => (typeof value === 'string' ? neutralProvider(value) : value);
const project = ['project'] as const;
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

// Which providers are available: read once from the configuration and the environment. A provider is enabled only if
// the variable that its apiKeyEnv names is not empty.
import type { Environment } from '../../kernel/config/resolved-value.ts';
import type { Config } from '../config.ts';
import { DEFAULT_SUMMARY_MODEL, modelOf, type ProviderName, providerNames } from './providers.ts';

export type Access = { key: string; baseUrl: string };

export type SummarySettings = {
  defaultProvider: ProviderName;
  defaultModel: string;
  /** The enabled ones. Empty if AI is off. */
  providers: ReadonlyMap<ProviderName, Access>;
  /** The names of the empty variables, for the remedy. */
  missing: ReadonlyMap<ProviderName, string>;
};

const vendorBases: Readonly<Record<ProviderName, string>> = {
  'provider-a': 'https://api.anthropic.com/v1',
  'provider-b': 'https://api.openai.com/v1',
  'provider-c': 'https://api.x.ai/v1',
};

/** Only projects with AI on count; if several name the same provider, the first one counts. */
export function readSummarySettings(configs: readonly Config[], environment: Environment): SummarySettings {
  const on = configs.filter(({ svc }) => svc.ai.enabled);
  const providers = new Map<ProviderName, Access>();
  const missing = new Map<ProviderName, string>();
  for (const name of providerNames) {
    for (const { svc } of on) {
      const { apiKeyEnv, baseUrl = vendorBases[name] } = svc.ai.providers[name] ?? {};
      if (apiKeyEnv === undefined || providers.has(name)) continue;
      const key = environment[apiKeyEnv]?.trim() ?? '';
      if (key === '') missing.set(name, apiKeyEnv);
      else providers.set(name, { key, baseUrl });
    }
  }
  const { defaultProvider = 'provider-a', defaultModel = DEFAULT_SUMMARY_MODEL } = on[0]?.svc.ai ?? {};
  return { defaultProvider, defaultModel, providers, missing };
}

export type BriefingSettings = {
  provider: 'provider-a' | 'provider-b';
  model: string;
  access: Access;
  autoRefreshSec: number | null;
};

/** Undefined if it is disabled: without a gateway and its key, or if the project has AI off. */
export function readBriefingSettings(configs: readonly Config[]): BriefingSettings | undefined {
  for (const { svc, ai } of configs) {
    const { gateway, apiKey, provider, model, autoRefreshSec } = ai;
    if (!svc.ai.enabled || gateway === undefined || apiKey === undefined) continue;
    const access = { key: apiKey, baseUrl: gateway };
    return { provider, model: modelOf(provider, model), access, autoRefreshSec };
  }
  return undefined;
}

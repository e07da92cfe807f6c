// The body of POST /api/summarize.
import { neutralProvider } from '../vendor-names.ts';
import { isProviderName, type ProviderName, providerNames } from './provider-names.ts';
import { isSummaryTemplate, type SummaryTemplate, summaryTemplates } from './templates.ts';

export type SummaryRequest = {
  orchId: string;
  template: SummaryTemplate;
  provider?: ProviderName;
  model?: string;
};

export type ReadSummaryRequest = { ok: true; request: SummaryRequest } | { ok: false; problem: string };

const fields = ['orchId', 'template', 'provider', 'model'];
const orchIdPattern = /^[A-Za-z0-9._-]{1,120}$/;
const modelPattern = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,119}$/;

/**
 * Reads a parsed body. A field that there is not is a problem too: a wish that is not heard would summarize
 * something that nobody asked for.
 *
 *     readSummaryRequest({ orchId: 'run-1' })
 */
export function readSummaryRequest(body: unknown): ReadSummaryRequest {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return problem('The body must be a JSON object.');
  const given = body as Record<string, unknown>;
  const unknown = Object.keys(given).find((name) => !fields.includes(name));
  if (unknown !== undefined)
    return problem(`There is no ${JSON.stringify(unknown.slice(0, 60))}; there are ${fields.join(', ')}.`);
  const { orchId, template = 'run-summary', provider, model } = given;
  if (orchId === undefined) return problem('orchId is needed.');
  if (typeof orchId !== 'string' || !orchIdPattern.test(orchId))
    return problem('orchId: expected the name of a run: letters, digits, dots, dashes, underscores.');
  if (typeof template !== 'string' || !isSummaryTemplate(template))
    return problem(`template: expected one of ${summaryTemplates.join(', ')}.`);
  if (model !== undefined && (typeof model !== 'string' || !modelPattern.test(model)))
    return problem('model: expected the id of a model, of at most 120 characters.');
  const request = { orchId, template, ...(model !== undefined && { model }) };
  if (provider === undefined) return { ok: true, request };
  const name = typeof provider === 'string' ? neutralProvider(provider) : '';
  if (!isProviderName(name)) return problem(`provider: expected one of ${providerNames.join(', ')}.`);
  return { ok: true, request: { ...request, provider: name } };
}

function problem(text: string): ReadSummaryRequest {
  return { ok: false, problem: text };
}

// Texts written by a model: run summaries and the briefing.
import { neutralProvider, realProvider } from '@svc/contract/vendor-names';
import { z } from 'zod';
import { apiRoute, noFields, Time } from '../../kernel/http/api-route.ts';
import { providerNames } from './providers.ts';
import { summaryTemplates } from './summary-prompt.ts';

const orchId = 'expected a run name: letters, digits, dots, dashes, underscores';
const model = 'expected a model id of at most 120 characters';
const realNames = providerNames.flatMap((name) => realProvider(name) ?? []);

export type SuggestedLabel = z.infer<typeof Label>;
const Label = z.object({ ticket: z.string(), label: z.string() });
const Briefing = z
  .object({
    enabled: z.boolean(),
    briefing: z.string().nullable().describe('Null until the first briefing is written'),
    suggestedLabels: z.array(Label),
    generatedAt: Time.nullable(),
  })
  .meta({ id: 'Briefing' });

export type SummaryRequest = z.output<typeof SummaryRequest>;
const SummaryRequest = z.strictObject({
  orchId: z
    .string(orchId)
    .regex(/^[A-Za-z0-9._-]{1,120}$/, orchId)
    .describe('the run name'),
  template: z.enum(summaryTemplates).default('run-summary').describe('default: run-summary'),
  provider: z
    .enum([...providerNames, ...realNames])
    .transform((name) => providerNames.find((one) => one === neutralProvider(name)))
    .optional(),
  model: z
    .string(model)
    .regex(/^[A-Za-z0-9][A-Za-z0-9._:/-]{0,119}$/, model)
    .optional(),
});

export const summaryRoutes = {
  summarizeRun: apiRoute({
    method: 'POST',
    path: '/api/summarize',
    tag: 'summaries',
    summary: 'Summarise a run with a model provider',
    description:
      'Refused in this order: AI is off, the request is invalid, the provider has no key, the run is unknown. A cached summary is returned before the rate limit is checked.',
    verbs: ['svc summarize'],
    body: SummaryRequest,
    answer: z
      .object({
        summary: z.string(),
        provider: z.enum(providerNames),
        model: z.string(),
        cost: z.number().nullable().describe('In US dollars; null when the price of the model is unknown'),
        tokens: z.int(),
        cached: z.boolean(),
        generatedAt: Time,
      })
      .meta({ id: 'Summary' }),
    failures: [
      'usage',
      'not-configured',
      'unknown-run',
      'too-many-requests',
      'provider-failed',
      'provider-timed-out',
      'state-not-ready',
    ],
    otherFailures: { 503: z.object({ error: z.literal('AI not configured') }) },
  }),
  getBriefing: apiRoute({
    method: 'GET',
    path: '/api/briefing',
    tag: 'summaries',
    summary: 'Show the last briefing, without calling a model',
    verbs: ['svc briefing'],
    answer: Briefing,
    failures: [],
  }),
  writeBriefing: apiRoute({
    method: 'POST',
    path: '/api/briefing',
    tag: 'summaries',
    summary: 'Write a new briefing',
    verbs: ['svc briefing'],
    body: noFields,
    answer: Briefing,
    failures: ['usage', 'too-many-requests', 'provider-failed', 'provider-timed-out', 'state-not-ready'],
  }),
};

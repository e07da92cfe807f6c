// Texts that a model writes: the summary of a run, and the briefing.
import { z } from 'zod';
import { providerNames } from '../summarize/providers.ts';
import { summaryTemplates } from '../summarize/summary-prompt.ts';
import { neutralProvider, realProvider } from '../vendor-names.ts';
import { apiRoute, noFields, Time } from './route.ts';

const orchId = 'expected the name of a run: letters, digits, dots, dashes, underscores';
const model = 'expected the id of a model, of at most 120 characters';
const realNames = providerNames.flatMap((name) => realProvider(name) ?? []);

export type SuggestedLabel = z.infer<typeof Label>;
const Label = z.object({ ticket: z.string(), label: z.string() });
const Briefing = z
  .object({
    enabled: z.boolean(),
    briefing: z.string().nullable().describe('Null until the first one is written'),
    suggestedLabels: z.array(Label),
    generatedAt: Time.nullable(),
  })
  .meta({ id: 'Briefing' });

export type SummaryRequest = z.output<typeof SummaryRequest>;
const SummaryRequest = z.strictObject({
  orchId: z
    .string(orchId)
    .regex(/^[A-Za-z0-9._-]{1,120}$/, orchId)
    .describe('the name of the run'),
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
    summary: 'A run in words, written by a model provider',
    description:
      'Refused in this order: AI off, a request that cannot be read, a provider without a key, an unknown run. A kept summary is answered before the limit of calls.',
    verbs: ['svc summarize'],
    body: SummaryRequest,
    answer: z
      .object({
        summary: z.string(),
        provider: z.enum(providerNames),
        model: z.string(),
        cost: z.number().nullable().describe('In US dollars; null when the price of the model is not known'),
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
    summary: 'The last briefing; nobody is called',
    verbs: ['svc briefing'],
    answer: Briefing,
    failures: [],
  }),
  writeBriefing: apiRoute({
    method: 'POST',
    path: '/api/briefing',
    tag: 'summaries',
    summary: 'A fresh briefing',
    verbs: ['svc briefing'],
    body: noFields,
    answer: Briefing,
    failures: ['usage', 'too-many-requests', 'provider-failed', 'provider-timed-out', 'state-not-ready'],
  }),
};

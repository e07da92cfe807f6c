// Mutations of summaries and the briefing: off means off, and their price has bounds.
import type { Mutation } from '../mutation.ts';

export const summaries: readonly Mutation[] = [
  {
    row: 'CFG-35',
    test: "packages/monitor/src/summarize/summarize.test.ts › ['AI off', { ai: { enabled: false } }]",
    named: 'AI off: before the body is read, and nobody is called',
    file: 'packages/monitor/src/summarize/settings.ts',
    find: 'const on = configs.filter(({ svc }) => svc.ai.enabled);',
    replace: 'const on = configs;',
  },
  {
    row: 'BRF-4',
    file: 'packages/monitor/src/summarize/settings.ts',
    find: 'if (!svc.ai.enabled || gateway === undefined || apiKey === undefined) continue;',
    replace: 'if (gateway === undefined || apiKey === undefined) continue;',
  },
  {
    row: 'SUM-17',
    test: 'packages/monitor/src/summarize/summarize.test.ts › at most 2 at once',
    file: 'packages/monitor/src/summarize/limiter.ts',
    find: 'if (running >= AT_ONCE)',
    replace: 'if (running > AT_ONCE)',
  },
  {
    row: 'ERR-4',
    file: 'packages/monitor/src/summarize/limiter.ts',
    find: 'if (wait > 0) return { ok: false, retryAfterMs: wait };',
    replace: '',
  },
  {
    row: 'SUM-13',
    file: 'packages/monitor/src/summarize/summarizer.ts',
    find: 'const SUMMARY_LIFETIME_MS = 5 * 60_000;',
    replace: 'const SUMMARY_LIFETIME_MS = 50 * 60_000;',
  },
  {
    row: 'SUM-14',
    file: 'packages/monitor/src/summarize/summarizer.ts',
    find: 'JSON.stringify([orchId, template, snapshotHash(prompt), provider, model]);',
    replace: 'JSON.stringify([template, known.seq, provider, model]);',
  },
  {
    row: 'CFG-40',
    file: 'packages/monitor/src/summarize/settings.ts',
    find: "if (key === '') missing.set(name, apiKeyEnv);",
    replace: "if (key === 'none') missing.set(name, apiKeyEnv);",
  },
  {
    row: 'AUTH-10',
    file: 'packages/monitor/src/summarize/settings.ts',
    find: 'providers.set(name, { key, baseUrl });',
    replace: 'providers.set(name, { key: apiKeyEnv, baseUrl });',
  },
];

// The answer of POST /api/summarize, read. 503 with no code is AI that nobody configured.

type Summary = {
  summary: string;
  provider: string;
  model: string;
  cost: number;
  tokens: number;
  cached: boolean;
  generatedAt: string;
};

export type SummaryAnswer =
  | { kind: 'summary'; summary: Summary }
  | { kind: 'not-configured'; words: string; remedy: string }
  /** Come again after so many seconds. */
  | { kind: 'later'; words: string; seconds: number }
  | { kind: 'failed'; words: string; code: string; remedy: string | null }
  | { kind: 'canceled' };

const DEFAULT_WAIT_SEC = 5;
const LONGEST_WAIT_SEC = 3_600;

export function readSummaryAnswer(status: number, retryAfter: string | null, body: string): SummaryAnswer {
  const said = fieldsOf(body);
  if (status === 200 && typeof said['summary'] === 'string')
    return { kind: 'summary', summary: said as unknown as Summary };
  const text = (name: string): string | null => (typeof said[name] === 'string' ? said[name] : null);
  const words = text('error') ?? `The daemon answered ${status}.`;
  if (status === 503 && (text('code') === null || text('code') === 'not-configured'))
    return {
      kind: 'not-configured',
      words,
      remedy: text('remedy') ?? 'Run: svc config set svc.ai.enabled true',
    };
  if (status === 429) return { kind: 'later', words, seconds: secondsIn(retryAfter) };
  return { kind: 'failed', words, code: text('code') ?? `http-${status}`, remedy: text('remedy') };
}

function secondsIn(retryAfter: string | null): number {
  const seconds = /^\d{1,6}$/.test(retryAfter ?? '') ? Number(retryAfter) : DEFAULT_WAIT_SEC;
  return Math.min(Math.max(1, seconds), LONGEST_WAIT_SEC);
}

function fieldsOf(body: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

// Asks for a run in words. A refusal is one of the kinds that the screen draws apart: AI that nobody configured is
// no failure, and too many at once says when to come again.
import { readSummaryAnswer, type SummaryAnswer } from './summary-answer.ts';

export async function askSummary(orchId: string, signal: AbortSignal): Promise<SummaryAnswer> {
  let response: Response;
  try {
    response = await fetch('/api/summarize', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ orchId, template: 'run-summary' }),
      signal,
    });
  } catch (error) {
    if (signal.aborted) return { kind: 'canceled' };
    if (error instanceof TypeError)
      return {
        kind: 'failed',
        words: 'The daemon does not answer.',
        code: 'no-answer',
        remedy: 'Run: svc monitor status',
      };
    throw error;
  }
  return readSummaryAnswer(response.status, response.headers.get('Retry-After'), await response.text());
}

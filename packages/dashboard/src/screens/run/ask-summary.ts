// Asks for a run in words. A refusal is one of the kinds that the screen draws apart: AI that nobody configured is
// no failure, and too many at once says when to come again.
import type { ApiAnswer, api } from '@svc/core';
import { ApiFailure, postJson } from '../../api/client.ts';
import { refusedSummary, type SummaryAnswer } from './summary-answer.ts';

export async function askSummary(orchId: string, signal: AbortSignal): Promise<SummaryAnswer> {
  const wish = { orchId, template: 'run-summary' };
  try {
    const summary = await postJson<ApiAnswer<typeof api.summarizeRun>>('/api/summarize', wish, signal);
    return { kind: 'summary', summary };
  } catch (error) {
    if (signal.aborted) return { kind: 'canceled' };
    if (error instanceof ApiFailure) return refusedSummary(error);
    throw error;
  }
}

// The briefing, through the gateway of the secrets file. It is written when a client asks for a fresh one, or by timer if
// that is configured; reading the last one never calls the model.
import { type ApiAnswer, type api, type Board, briefingRequest, readBriefing, type Worker } from '@svc/core';
import type { Logger } from 'pino';
import type { CallModel } from './call-model.ts';
import type { Limiter } from './limiter.ts';
import { ModelFailure } from './model-failure.ts';
import type { BriefingSettings } from './settings.ts';
import { createSharedCalls } from './shared-calls.ts';
import { failureFor, tooManyRequests } from './summary-failure.ts';

type BriefingAnswer = ApiAnswer<typeof api.getBriefing>;

export type Briefing = {
  last: () => BriefingAnswer;
  /** Fails with a Failure. */
  fresh: (signal: AbortSignal) => Promise<BriefingAnswer>;
  /** Starts to refresh by timer, if that is configured. */
  start: () => void;
  stop: () => void;
};

const GATEWAY = 'The gateway';

export function createBriefing(options: {
  /** Undefined: disabled. */
  settings: BriefingSettings | undefined;
  board: () => Board;
  isAllowed: (one: Pick<Worker, 'ticket' | 'repo'>) => boolean;
  limiter: Limiter;
  callModel: CallModel;
  now: () => number;
  logger: Logger;
}): Briefing {
  const { settings, board, isAllowed, limiter, callModel, now, logger } = options;
  const calls = createSharedCalls<BriefingAnswer>();
  let last: BriefingAnswer = {
    enabled: settings !== undefined,
    briefing: null,
    suggestedLabels: [],
    generatedAt: null,
  };
  /** The prompt that the last one was made from. */
  let lastPrompt = '';
  let timer: NodeJS.Timeout | undefined;

  async function write(given: BriefingSettings, signal: AbortSignal): Promise<BriefingAnswer> {
    const { provider, model, access } = given;
    const { prompt, tickets } = briefingRequest(board(), isAllowed);
    const slot = limiter.take();
    if (!slot.ok) throw tooManyRequests(GATEWAY, slot.retryAfterMs);
    try {
      const format = provider === 'provider-b' ? 'chat-completions' : provider;
      const question = { purpose: 'briefing', provider, format, access, model, prompt } as const;
      const { text } = await callModel(question, slot.lease, signal);
      const generatedAt = new Date(now()).toISOString();
      last = { enabled: true, ...readBriefing(text, tickets), generatedAt };
      lastPrompt = prompt.text;
      return last;
    } catch (error) {
      if (!(error instanceof ModelFailure)) throw error;
      if (error.retryAfterMs !== undefined) limiter.pause(error.retryAfterMs);
      throw failureFor(GATEWAY, model, error);
    } finally {
      slot.lease.release();
    }
  }

  const fresh = async (signal: AbortSignal): Promise<BriefingAnswer> =>
    settings === undefined ? last : calls.join('', signal, (left) => write(settings, left));

  async function refresh(signal: AbortSignal): Promise<void> {
    try {
      if (briefingRequest(board(), isAllowed).prompt.text !== lastPrompt) await fresh(signal);
    } catch (error) {
      logger.warn({ why: error instanceof Error ? error.message : 'unknown' }, 'no new briefing');
    }
  }

  return {
    last: () => last,
    fresh,
    start() {
      const seconds = settings?.autoRefreshSec ?? null;
      if (seconds === null || timer !== undefined) return;
      const neverAborted = new AbortController();
      timer = setInterval(() => void refresh(neverAborted.signal), seconds * 1000);
    },
    stop() {
      clearInterval(timer);
      timer = undefined;
      calls.abortAll();
    },
  };
}

// A summary of the run, written by a model on request, with its cost and whether it came from the cache.
import { Sparkles } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { usdText } from 'svc-monitor/src/features/agents/cost.ts';
import type { api } from 'svc-monitor/src/features/api.ts';
import type { ApiAnswer } from 'svc-monitor/src/kernel/http/api-route.ts';
import { ApiFailure, client } from '../../api/client.ts';
import { useNow } from '../../live/live.tsx';
import { Ago } from '../../parts/age.tsx';
import { shownText } from '../../parts/agent-text.tsx';
import { Button } from '../../parts/button.tsx';
import { countWords } from '../../parts/format.ts';
import { Panel } from '../../parts/panel.tsx';
import { Pill } from '../../parts/pill.tsx';
import { Remedy } from '../../parts/remedy.tsx';

// Refusals are shown by kind: AI that is not configured is not a failure, and a rate limit shows when to try again.

async function askSummary(orchId: string, signal: AbortSignal): Promise<SummaryAnswer> {
  try {
    const summary = await client.post('/api/summarize', { body: { orchId }, signal });
    return { kind: 'summary', summary };
  } catch (error) {
    if (signal.aborted) return { kind: 'canceled' };
    if (error instanceof ApiFailure) return refusedSummary(error);
    throw error;
  }
}

type Asked = { answer: SummaryAnswer; at: number } | { since: number };

export function RunSummary({ run, disabledBecause }: { run: string; disabledBecause: string | null }) {
  const [asked, setAsked] = useState<Asked | null>(null);
  const canceler = useRef<AbortController>(undefined);
  const now = useNow();
  useEffect(() => () => canceler.current?.abort(), []);
  const ask = async (): Promise<void> => {
    canceler.current?.abort();
    const own = new AbortController();
    canceler.current = own;
    setAsked({ since: Date.now() });
    const answer = await askSummary(run, own.signal);
    if (canceler.current === own) setAsked(answer.kind === 'canceled' ? null : { answer, at: Date.now() });
  };
  const isAsking = asked !== null && 'since' in asked;
  const answer = asked !== null && 'answer' in asked ? asked.answer : null;
  const wait =
    answer?.kind === 'later' && asked !== null && 'at' in asked
      ? Math.max(0, Math.ceil((asked.at + answer.seconds * 1_000 - now) / 1_000))
      : 0;
  return (
    <Panel
      title="Summary"
      aside={
        isAsking ? (
          <Button onClick={() => canceler.current?.abort()}>Cancel</Button>
        ) : (
          <Button
            disabled={disabledBecause !== null || wait > 0}
            title={disabledBecause ?? undefined}
            onClick={() => void ask()}
          >
            <Sparkles aria-hidden="true" className="size-4" />
            {wait > 0 ? `Try again in ${wait} s` : answer === null ? 'Write a summary' : 'Write again'}
          </Button>
        )
      }
    >
      <div aria-live="polite" className="flex flex-col gap-3">
        {isAsking && (
          <p className="text-muted">
            Writing the summary. This may take half a minute (
            {Math.max(0, Math.floor((now - asked.since) / 1_000))} s so far).
          </p>
        )}
        {asked === null && (
          <p className="text-small text-muted">
            A model of your configured provider summarises the state of the run and what needs you in 200
            words. Nothing is sent until you ask.
          </p>
        )}
        {answer && <Answer answer={answer} wait={wait} />}
      </div>
    </Panel>
  );
}

function Answer({ answer, wait }: { answer: SummaryAnswer; wait: number }) {
  switch (answer.kind) {
    case 'summary': {
      const { summary, provider, model, cost, tokens, cached, generatedAt } = answer.summary;
      return (
        <>
          <p className="from-outside max-w-prose whitespace-pre-wrap text-text">{shownText(summary)}</p>
          <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-tiny text-muted">
            <span>
              {provider}, {model}
            </span>
            <span>{cost === null ? 'cost unknown' : usdText(cost)}</span>
            <span>{countWords(tokens)} tokens</span>
            {cached ? (
              <Pill meaning="unknown">
                cached, written <Ago at={generatedAt} />
              </Pill>
            ) : (
              <span>
                written <Ago at={generatedAt} />
              </span>
            )}
          </p>
        </>
      );
    }
    case 'not-configured':
      return (
        <div className="flex flex-col items-start gap-2 text-small text-muted">
          <p>{answer.words === 'AI not configured' ? 'No model provider is configured.' : answer.words}</p>
          <Remedy text={answer.remedy} />
        </div>
      );
    case 'later':
      return (
        <p className="text-small text-muted">
          {answer.words} {wait > 0 ? `Try again in ${wait} s.` : 'You can try again now.'}
        </p>
      );
    case 'failed':
      return (
        <div
          role="alert"
          className="flex flex-col items-start gap-2 rounded-control bg-broken-soft px-3 py-2 text-small"
        >
          <p className="text-broken">{answer.words}</p>
          <p className="font-mono text-tiny text-muted">{answer.code}</p>
          <Remedy text={answer.remedy} />
        </div>
      );
    case 'canceled':
      return null;
  }
}

// The result of a summary request. A 503 without its own code means that AI is not configured.

type SummaryAnswer =
  | { kind: 'summary'; summary: ApiAnswer<typeof api.summarizeRun> }
  | { kind: 'not-configured'; words: string; remedy: string }
  /** Try again after this many seconds. */
  | { kind: 'later'; words: string; seconds: number }
  | { kind: 'failed'; words: string; code: string; remedy: string | undefined }
  | { kind: 'canceled' };

const DEFAULT_WAIT_SEC = 5;
const LONGEST_WAIT_SEC = 3_600;

type Refusal = Pick<ApiFailure, 'status' | 'code' | 'message' | 'remedy' | 'retryAfter'>;

export function refusedSummary({ status, code, message: words, remedy, retryAfter }: Refusal): SummaryAnswer {
  if (status === 503 && (code === 'http-503' || code === 'not-configured'))
    return { kind: 'not-configured', words, remedy: remedy ?? 'Run: svc config set svc.ai.enabled true' };
  if (status !== 429) return { kind: 'failed', words, code, remedy };
  const seconds = Math.min(Math.max(1, retryAfter ?? DEFAULT_WAIT_SEC), LONGEST_WAIT_SEC);
  return { kind: 'later', words, seconds };
}

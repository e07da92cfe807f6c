// Asks for what a worker printed since the last page, once a second while somebody can see it.

import type { WorkerOutput } from '@svc/core';
import { useEffect, useState } from 'react';
import { ApiFailure, getJson, path } from '../../api/client.ts';
import { noOutput, type OutputState, withPage } from './output-lines.ts';

const EVERY_MS = 1_000;
/** The most lines of one answer. More come at once with the next one. */
const PAGE = 500;

export type Output = OutputState & { failure: Error | null };

export function useOutput(ticket: string, run: string | undefined): Output {
  const [output, setOutput] = useState<Output>({ ...noOutput, failure: null });
  useEffect(() => {
    const closed = new AbortController();
    let state = noOutput;
    let timer: ReturnType<typeof setTimeout> | undefined;
    setOutput({ ...noOutput, failure: null });

    async function ask(): Promise<void> {
      const url = path(`/api/workers/${encodeURIComponent(ticket)}/output`, {
        orchestrator: run,
        after: state.to,
        limit: PAGE,
      });
      let isFull = false;
      try {
        const page = await getJson<WorkerOutput>(url, closed.signal);
        isFull = page.lines.length === PAGE && state.to !== null;
        state = withPage(state, page);
        setOutput((before) =>
          before.failure === null && isSame(before, state) ? before : { ...state, failure: null },
        );
      } catch (error) {
        if (closed.signal.aborted) return;
        const failure = error instanceof Error ? error : new Error(String(error));
        setOutput({ ...state, failure });
        // What the daemon refuses it will refuse again.
        if (failure instanceof ApiFailure && failure.status >= 400 && failure.status < 500) return;
      }
      if (!closed.signal.aborted && !document.hidden)
        timer = setTimeout(() => void ask(), isFull ? 0 : EVERY_MS);
    }

    const onVisible = (): void => {
      clearTimeout(timer);
      if (!document.hidden) void ask();
    };
    document.addEventListener('visibilitychange', onVisible);
    void ask();
    return () => {
      closed.abort();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onVisible);
    };
  }, [ticket, run]);
  return output;
}

function isSame(one: OutputState, other: OutputState): boolean {
  return (
    one.lines === other.lines &&
    one.file === other.file &&
    one.restarts === other.restarts &&
    one.errors === other.errors
  );
}

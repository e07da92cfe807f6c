// The live output of the worker: its texts, tool calls and session results.
import { useVirtualizer } from '@tanstack/react-virtual';
import { CircleCheck, CircleX, FileQuestion, Play, Wrench } from 'lucide-react';
import { Switch } from 'radix-ui';
import { useEffect, useId, useRef, useState } from 'react';
import type { OutputLine } from 'svc-monitor/src/features/agents/agent-output.ts';
import type { WorkerOutput } from 'svc-monitor/src/features/workers/api.ts';
import { ApiFailure, client } from '../../api/client.ts';
import { shownText } from '../../parts/agent-text.tsx';
import { classNames } from '../../parts/class-names.ts';
import { Panel } from '../../parts/panel.tsx';
import { Failed, Loading } from '../../parts/states.tsx';

// The worker's output as one list, page by page. A file that became shorter starts over.

/** The oldest are dropped first. */
export const MOST_LINES = 5_000;

/** `id`: its number among all entries read; one line of the file may have several. */
type ReadLine = OutputLine & { id: number };

export type OutputState = {
  /** `none`: no output yet. `gone`: the file was removed. */
  file: 'waiting' | 'none' | 'there' | 'gone';
  lines: readonly ReadLine[];
  /** Continue reading here; null means the newest lines. */
  to: number | null;
  /** How often the file started over while the page was open. */
  restarts: number;
  /** There are older lines that are not shown. */
  hasEarlier: boolean;
  /** The last lines of its standard error. */
  errors: string;
};

export const noOutput: OutputState = {
  file: 'waiting',
  lines: [],
  to: null,
  restarts: 0,
  hasEarlier: false,
  errors: '',
};

export function withPage(state: OutputState, page: WorkerOutput): OutputState {
  const { errors } = page;
  if (!page.exists) return { ...state, file: state.lines.length > 0 ? 'gone' : 'none', to: null, errors };
  const startsOver = state.to === null || page.restarted;
  const known = startsOver ? [] : state.lines;
  const from = startsOver ? 0 : (state.to ?? 0);
  const next = (state.lines.at(-1)?.id ?? -1) + 1;
  const news = page.lines
    .filter(({ offset }) => offset >= from)
    .map((line, index) => ({ ...line, id: next + index }));
  if (!startsOver && news.length === 0 && state.file === 'there' && state.to === page.to)
    return errors === state.errors ? state : { ...state, errors };
  const lines = [...known, ...news];
  return {
    file: 'there',
    lines: lines.slice(-MOST_LINES),
    to: page.to,
    restarts: state.restarts + (page.restarted || state.file === 'gone' ? 1 : 0),
    hasEarlier: lines.length > MOST_LINES || (startsOver ? page.from > 0 : state.hasEarlier),
    errors,
  };
}

// Polls for new output, once a second while the page is visible.

const EVERY_MS = 1_000;
/** The most lines per response. If there are more, the next request follows at once. */
const PAGE = 500;

export type Output = OutputState & { failure: Error | null };

function useOutput(ticket: string, run: string | undefined): Output {
  const [output, setOutput] = useState<Output>({ ...noOutput, failure: null });
  useEffect(() => {
    const closed = new AbortController();
    let state = noOutput;
    let timer: ReturnType<typeof setTimeout> | undefined;
    setOutput({ ...noOutput, failure: null });

    async function ask(): Promise<void> {
      let isFull = false;
      try {
        const page = await client.get('/api/workers/{ticket}/output', {
          params: { ticket },
          query: { orchestrator: run, after: state.to ?? undefined, limit: PAGE },
          signal: closed.signal,
        });
        isFull = page.lines.length === PAGE && state.to !== null;
        state = withPage(state, page);
        setOutput((before) =>
          before.failure === null && isSame(before, state) ? before : { ...state, failure: null },
        );
      } catch (error) {
        if (closed.signal.aborted) return;
        const failure = error instanceof Error ? error : new Error(String(error));
        setOutput({ ...state, failure });
        // A refused request would be refused again.
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

/** The distance from the end, in pixels, that still counts as following. */
const NEAR_END = 24;
const MOST_HEIGHT = 384;

export function OutputPanel({ ticket, run }: { ticket: string; run: string | undefined }) {
  const output = useOutput(ticket, run);
  const [follow, setFollow] = useState(true);
  const id = useId();
  return (
    <Panel
      title="Agent output"
      flush
      aside={
        <label htmlFor={id} className="flex items-center gap-2 text-small text-muted">
          Follow
          <Switch.Root
            id={id}
            checked={follow}
            onCheckedChange={setFollow}
            className="h-5 w-9 rounded-full border border-line-strong bg-sunken transition-colors data-[state=checked]:border-ink data-[state=checked]:bg-ink"
          >
            <Switch.Thumb className="block size-3.5 translate-x-0.5 rounded-full bg-line-strong transition-transform data-[state=checked]:translate-x-[1.1rem] data-[state=checked]:bg-surface" />
          </Switch.Root>
        </label>
      }
    >
      <Note output={output} />
      {output.lines.length > 0 && (
        <Lines output={output} follow={follow} onLeaveEnd={() => setFollow(false)} />
      )}
      {output.errors !== '' && (
        <div className="border-line border-t px-4 py-2.5 text-small">
          <p className="text-muted">End of standard error:</p>
          <pre className="from-outside mt-1 whitespace-pre-wrap font-mono text-broken text-tiny">
            {shownText(output.errors)}
          </pre>
        </div>
      )}
    </Panel>
  );
}

function Note({ output }: { output: Output }) {
  const { failure, file, lines } = output;
  if (failure !== null)
    return (
      <div className="p-4">
        <Failed error={failure} />
      </div>
    );
  if (file === 'waiting')
    return (
      <div className="p-4">
        <Loading what="the output" />
      </div>
    );
  const note = noteOn(output);
  if (note === null) return null;
  return (
    <p
      role="status"
      className={classNames('px-4 py-2.5 text-small text-muted', lines.length > 0 && 'border-line border-b')}
    >
      {note}
    </p>
  );
}

function noteOn({ file, lines, restarts, hasEarlier }: Output): string | null {
  if (file === 'none') return 'No output yet. New output appears here.';
  if (file === 'gone') return 'The output file was removed. These lines were read before.';
  if (lines.length === 0) return 'The output file has no lines yet.';
  if (restarts > 0) return 'A new session started the output file again.';
  return hasEarlier ? 'Earlier lines are in the file but not shown.' : null;
}

function Lines({
  output: { lines },
  follow,
  onLeaveEnd,
}: {
  output: Output;
  follow: boolean;
  onLeaveEnd: () => void;
}) {
  const frame = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => frame.current,
    estimateSize: () => 28,
    getItemKey: (index) => lines[index]?.id ?? index,
    overscan: 12,
  });
  const { length } = lines;
  const size = rows.getTotalSize();
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows when lines arrive and when they are measured.
  useEffect(() => {
    const element = frame.current;
    if (follow && element !== null) element.scrollTop = element.scrollHeight;
  }, [follow, length, size]);
  return (
    <div
      ref={frame}
      role="log"
      aria-label="Output of the agent"
      aria-live="off"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a frame that scrolls must be reachable by keyboard.
      tabIndex={0}
      onWheel={({ deltaY }) => deltaY < 0 && follow && onLeaveEnd()}
      onKeyDown={({ key }) => ['ArrowUp', 'PageUp', 'Home'].includes(key) && follow && onLeaveEnd()}
      onTouchMove={() => follow && !isAtEnd(frame.current) && onLeaveEnd()}
      className="overflow-y-auto bg-sunken py-1 font-mono text-tiny"
      style={{ height: Math.min(MOST_HEIGHT, size + 10) }}
    >
      <div className="relative w-full" style={{ height: size }}>
        {rows.getVirtualItems().map(({ key, index, start }) => {
          const line = lines[index];
          return (
            line && (
              <div
                key={key}
                data-index={index}
                ref={rows.measureElement}
                className="absolute inset-x-0 top-0"
                style={{ transform: `translateY(${start}px)` }}
              >
                <Line line={line} />
              </div>
            )
          );
        })}
      </div>
    </div>
  );
}

function isAtEnd(element: HTMLElement | null): boolean {
  return element === null || element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_END;
}

const looks: Record<OutputLine['kind'], { icon: typeof Play | null; name: string; className: string }> = {
  text: { icon: null, name: 'text', className: 'text-text' },
  tool: { icon: Wrench, name: 'tool', className: 'text-muted' },
  result: { icon: CircleCheck, name: 'result', className: 'text-ink' },
  session: { icon: Play, name: 'session', className: 'text-ink font-medium' },
  other: { icon: null, name: 'other', className: 'text-muted' },
  unreadable: { icon: FileQuestion, name: 'unreadable', className: 'text-unknown' },
};

function Line({ line: { kind, text, ok, cut } }: { line: OutputLine }) {
  const { icon, name, className } = looks[kind];
  const Icon = ok === false ? CircleX : icon;
  const words = ok === false ? 'failed' : name;
  return (
    <div className={classNames('flex gap-2 px-4 py-1 max-wide:px-3', className)}>
      <span
        className={classNames(
          'flex w-24 shrink-0 items-center gap-1.5 self-start text-tiny max-wide:w-6',
          ok === false ? 'text-broken' : ok === true ? 'text-proven' : 'text-muted',
        )}
      >
        {Icon && <Icon aria-hidden="true" className="size-3.5 shrink-0" />}
        <span className="max-wide:sr-only">{words}</span>
      </span>
      <span
        className={classNames(
          'from-outside min-w-0 flex-1 whitespace-pre-wrap',
          ok === false && 'text-broken',
        )}
      >
        {shownText(text)}
        {cut && <span className="text-muted"> … truncated</span>}
      </span>
    </div>
  );
}

// jq filters for the daemon, which must not block on them: one thread runs them, one request at a time. A request that
// takes too long terminates the thread; the next request starts a new one. Its modes:
// - none: no request for a while. The first request starts it.
// - working: a request is running, others wait. Ends when all are answered.
// - idle: kept for a while, because a client that filters usually asks again.
import { Worker } from 'node:worker_threads';
import { asError } from '@svc/lib/errors';
import { Failure } from '../failure.ts';
import { refuseImpossible, unusable } from './jq-filter.ts';
import type { JqAnswer, JqQuestion } from './jq-thread.ts';
import type { TopicTable } from './topics.ts';

export type JqThreads = {
  /** Whether each line matches. Rejects with a failure that explains what is wrong with the filter. */
  matches: (filter: string, lines: readonly string[]) => Promise<boolean[]>;
  close: () => Promise<void>;
};

/** For a few hundred lines, which take a few milliseconds; loading jq takes a hundred. */
const ANSWER_WITHIN_MS = 1_000;
/** How many times longer it may take on a busy machine, where the daemon has used less of the processor than that. */
const BUSY_MACHINE = 10;
const START_WITHIN_MS = 10_000;
const IDLE_MS = 30_000;
const MOST_WAITING = 100;
const WARM_UP = 0;
const LONGEST_FILTER = 4_000;

type Waiting = JqQuestion & { resolve: (matches: boolean[]) => void; reject: (error: Error) => void };

const source = new URL(
  import.meta.url.endsWith('.ts') ? './jq-thread.ts' : './jq-thread.js',
  import.meta.url,
);

export function createJqThreads({
  topics,
  answerWithinMs = ANSWER_WITHIN_MS,
  idleMs = IDLE_MS,
  usedMs = processorMs,
}: {
  topics: TopicTable;
  answerWithinMs?: number;
  idleMs?: number;
  /** What the daemon has used of the processor, at least what the thread has used. */
  usedMs?: () => number;
}): JqThreads {
  const waiting: Waiting[] = [];
  let thread: Worker | undefined;
  let isWarm = false;
  let underWay: Waiting | undefined;
  let timer: NodeJS.Timeout | undefined;
  let count = 0;

  function setTimer(milliseconds: number, then: () => void): void {
    clearTimeout(timer);
    timer = setTimeout(then, milliseconds);
    timer.unref();
  }

  function start(): Worker {
    const fresh = new Worker(source);
    fresh.unref();
    fresh.on('message', (answer: JqAnswer) => {
      if (thread === fresh) settle(answer);
    });
    fresh.on('error', (error) => {
      if (thread === fresh) failed(asError(error));
    });
    isWarm = false;
    // Loading jq does not count against the first request's time.
    fresh.postMessage({ id: WARM_UP, filter: 'true', lines: [] } satisfies JqQuestion, []);
    setTimer(START_WITHIN_MS, () => failed(new Error('jq did not start')));
    return fresh;
  }

  function ask({ id, filter, lines }: Waiting): void {
    thread?.postMessage({ id, filter, lines } satisfies JqQuestion, []);
    const before = usedMs();
    let rounds = 0;
    const check = (): void => {
      rounds += 1;
      if (rounds === BUSY_MACHINE || usedMs() - before >= answerWithinMs) failed(tooSlow());
      else setTimer(answerWithinMs, check);
    };
    setTimer(answerWithinMs, check);
  }

  function settle(answer: JqAnswer): void {
    const question = underWay;
    if (answer.id === WARM_UP) {
      isWarm = true;
      if (question !== undefined) ask(question);
    }
    if (question === undefined || question.id !== answer.id) return;
    if (!answer.ok && answer.why === 'too-large') return failed(tooLarge());
    underWay = undefined;
    if (answer.ok) question.resolve(answer.matches);
    else question.reject(answer.why === 'refused' ? unusable(answer.message) : new Error(answer.message));
    next();
  }

  /** Terminates the thread and the request that it is running. */
  function failed(error: Error): void {
    const question = underWay;
    underWay = undefined;
    void thread?.terminate();
    thread = undefined;
    question?.reject(error);
    next();
  }

  function next(): void {
    if (underWay !== undefined) return;
    underWay = waiting.shift();
    if (underWay === undefined) {
      setTimer(idleMs, () => {
        void thread?.terminate();
        thread = undefined;
      });
      return;
    }
    thread ??= start();
    if (isWarm) ask(underWay);
  }

  return {
    matches(filter, lines) {
      return new Promise((resolve, reject) => {
        if (filter.length > LONGEST_FILTER)
          throw new Failure('usage', `filter: expected at most ${LONGEST_FILTER} characters.`);
        refuseImpossible(topics, filter);
        if (waiting.length >= MOST_WAITING)
          throw new Failure('busy', 'Too many filters are running.', 'Try again in a moment.');
        count += 1;
        waiting.push({ id: count, filter, lines, resolve, reject });
        next();
      });
    },
    async close() {
      clearTimeout(timer);
      const ended = new Failure('busy', 'The daemon is stopping.');
      for (const question of waiting.splice(0)) question.reject(ended);
      underWay?.reject(ended);
      underWay = undefined;
      await thread?.terminate();
      thread = undefined;
    },
  };
}

function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function tooLarge(): Failure {
  return new Failure(
    'filter-too-large',
    'The jq filter needs too much memory.',
    'Narrow the search with event, ticket, repo or pr, or use a simpler filter.',
  );
}

function tooSlow(): Failure {
  return new Failure(
    'filter-too-slow',
    'The jq filter takes too long.',
    'Narrow the search with event, ticket, repo or pr, or use a simpler filter.',
  );
}

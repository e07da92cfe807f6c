// The thread in which the daemon runs jq: it answers one request after the other, and can be terminated at any time.
import { parentPort } from 'node:worker_threads';
import { messageOf } from '@svc/lib/errors';
import { createJqEngine, JqRefused, JqTooLarge, type LineFilter } from './jq-engine.ts';

export type JqQuestion = { id: number; filter: string; lines: readonly string[] };
export type JqAnswer = { id: number } & (
  | { ok: true; matches: boolean[] }
  | { ok: false; why: 'refused' | 'too-large' | 'failed'; message: string }
);

let last: { text: string; filter: LineFilter } | undefined;

async function answerTo({ id, filter, lines }: JqQuestion): Promise<JqAnswer> {
  try {
    if (last?.text !== filter) last = { text: filter, filter: await createJqEngine(filter) };
    return { id, ok: true, matches: last.filter(lines) };
  } catch (error) {
    const message = messageOf(error);
    const isRefused = error instanceof JqRefused;
    const isTooLarge = error instanceof JqTooLarge;
    return { id, ok: false, why: isRefused ? 'refused' : isTooLarge ? 'too-large' : 'failed', message };
  }
}

parentPort?.on('message', (question: JqQuestion) => {
  void answerTo(question).then((answer) => parentPort?.postMessage(answer, []));
});

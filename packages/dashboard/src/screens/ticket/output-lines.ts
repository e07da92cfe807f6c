// What a worker printed, page by page, as one list. A file that became shorter begins anew.
import type { OutputLine, WorkerOutput } from '@svc/core';

/** The oldest go first. */
export const MOST_LINES = 5_000;

/** `id`: its number among all that were read; one line of the file may say several things. */
type ReadLine = OutputLine & { id: number };

export type OutputState = {
  /** `none`: it has printed nothing yet. `gone`: there was a file, and it is not there any more. */
  file: 'waiting' | 'none' | 'there' | 'gone';
  lines: readonly ReadLine[];
  /** Read on from here; null is the newest lines. */
  to: number | null;
  /** How often the file began anew while somebody looked. */
  restarts: number;
  /** Older lines than the shown ones exist. */
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
  const beginsAnew = state.to === null || page.restarted;
  const known = beginsAnew ? [] : state.lines;
  const from = beginsAnew ? 0 : (state.to ?? 0);
  const next = (state.lines.at(-1)?.id ?? -1) + 1;
  const news = page.lines
    .filter(({ offset }) => offset >= from)
    .map((line, index) => ({ ...line, id: next + index }));
  if (!beginsAnew && news.length === 0 && state.file === 'there' && state.to === page.to)
    return errors === state.errors ? state : { ...state, errors };
  const lines = [...known, ...news];
  return {
    file: 'there',
    lines: lines.slice(-MOST_LINES),
    to: page.to,
    restarts: state.restarts + (page.restarted || state.file === 'gone' ? 1 : 0),
    hasEarlier: lines.length > MOST_LINES || (beginsAnew ? page.from > 0 : state.hasEarlier),
    errors,
  };
}

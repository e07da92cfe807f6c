// A person must see everything that they allow. What is too long for its place is read and allowed on its ticket's page.
import type { AgentRequest } from 'svc-monitor/src/features/workers/agent-fields.ts';
import { isShortDiff } from '../../parts/diff-box.tsx';

/** The notice is on every screen, a card has little space. */
export type Place = 'page' | 'card' | 'notice';

const limits = {
  card: { characters: 600, lines: 12, diffLines: 20 },
  notice: { characters: 300, lines: 6, diffLines: 10 },
} as const;

type Diff = Parameters<typeof isShortDiff>[0];

export function fitsIn(
  place: Place,
  { title, command, paths }: Pick<AgentRequest, 'title' | 'command' | 'paths'>,
  diffs: readonly Diff[],
): boolean {
  if (place === 'page') return true;
  const { characters, lines, diffLines } = limits[place];
  const others = [...paths, ...(command === null ? [] : [command])].filter((one) => !title.includes(one));
  const text = [title, ...others].join('\n');
  return (
    text.length <= characters &&
    text.split('\n').length <= lines &&
    diffs.length <= 1 &&
    diffs.every((diff) => isShortDiff(diff, diffLines))
  );
}

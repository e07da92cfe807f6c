// A person must see everything that they allow. What is too long for a card is read and allowed on its ticket's page.
import type { AgentRequest } from '@svc/core';
import { isShortDiff } from '../../parts/diff-box.tsx';

const MOST_CHARACTERS = 600;
const MOST_LINES = 12;
const MOST_DIFF_LINES = 20;

type Diff = Parameters<typeof isShortDiff>[0];

export function fitsOnCard(
  { title, command }: Pick<AgentRequest, 'title' | 'command'>,
  diffs: readonly Diff[],
): boolean {
  const text = command === null || title.includes(command) ? title : `${title}\n${command}`;
  return (
    text.length <= MOST_CHARACTERS &&
    text.split('\n').length <= MOST_LINES &&
    diffs.length <= 1 &&
    diffs.every((diff) => isShortDiff(diff, MOST_DIFF_LINES))
  );
}

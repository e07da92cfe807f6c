// The six meanings of docs/internals/design-language.md and the classes that draw them. No other file names colours.
import type { Meaning } from 'svc-monitor/src/kernel/board/label.ts';

export const textOf: Record<Meaning, string> = {
  motion: 'text-motion',
  you: 'text-you',
  broken: 'text-broken',
  proven: 'text-proven',
  review: 'text-review',
  unknown: 'text-unknown',
};

export const backgroundOf: Record<Meaning, string> = {
  motion: 'bg-motion-soft',
  you: 'bg-you-soft',
  broken: 'bg-broken-soft',
  proven: 'bg-proven-soft',
  review: 'bg-review-soft',
  unknown: 'bg-unknown-soft',
};

export const markOf: Record<Meaning, string> = {
  motion: 'bg-motion-mark',
  you: 'bg-you-mark',
  broken: 'bg-broken-mark',
  proven: 'bg-proven-mark',
  review: 'bg-review-mark',
  unknown: 'bg-unknown-mark',
};

export const edgeOf: Record<Meaning, string> = {
  motion: 'border-motion-mark',
  you: 'border-you-mark',
  broken: 'border-broken-mark',
  proven: 'border-proven-mark',
  review: 'border-review-mark',
  unknown: 'border-unknown-mark border-dashed',
};

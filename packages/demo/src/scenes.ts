// What is said while the day goes by: one line each, about something that is to be seen at that minute. A minute
// counts from eight in the morning, as in the tape.
import type { WorkerStatus } from '@svc/core';

export const DAY_BEGINS = 60;
export const DAY_ENDS = 570;
/** The ticket whose deployments are used up: it waits for the person at the screen. */
export const WAITS_FOR_YOU = 'TID-106';

export type Scene = {
  minute: number;
  says: string;
  /** The state of the ticket that it speaks of. */
  shows: Readonly<Record<string, WorkerStatus>>;
};

export const scenes: readonly Scene[] = [
  {
    minute: DAY_BEGINS,
    says: 'Agents work on two repositories, a card each. The board is live: keep it in view.',
    shows: { 'TID-101': 'done', 'TID-104': 'planning' },
  },
  {
    minute: 97.2,
    says: 'TID-107 has a pull request. Its checks begin, and a review comes.',
    shows: { 'TID-107': 'pr-created' },
  },
  {
    minute: 126.9,
    says: 'TID-107 is done: its merge was seen in production. Open the card for the proof.',
    shows: { 'TID-107': 'done' },
  },
  {
    minute: 179.3,
    says: 'TID-106 was merged, and its deploy failed. Merged is not done: two attempts are left.',
    shows: { 'TID-106': 'deploy-failed' },
  },
  {
    minute: 207.3,
    says: 'TID-106 needs you: open Attention (keys: g a) and press e. Or retry or accept the deploy there.',
    shows: { 'TID-106': 'deploy-failed' },
  },
  {
    minute: 260.5,
    says: 'TID-128: the reviewer asks for changes, with three open threads.',
    shows: { 'TID-128': 'pr-created' },
  },
  {
    minute: 300.9,
    says: 'The deploy of TID-112 failed: the runner lost its network. The pipeline tries again.',
    shows: { 'TID-112': 'deploy-failed' },
  },
  {
    minute: 312.9,
    says: 'The second attempt of TID-112 succeeded: done, without anybody.',
    shows: { 'TID-112': 'done' },
  },
  {
    minute: 402.1,
    says: 'The agent of TID-132 gave up, and says why. Its card says it too.',
    shows: { 'TID-132': 'failed' },
  },
  {
    minute: 455.1,
    says: 'TID-130 has stalled: no sign of life for half an hour.',
    shows: { 'TID-130': 'stalled' },
  },
  {
    minute: 519.1,
    says: 'The deploy of TID-105 failed on a migration. Events has every line of it.',
    shows: { 'TID-105': 'deploy-failed' },
  },
  {
    minute: 548.1,
    says: 'The agent of TID-124 asks a question. It waits in Attention.',
    shows: { 'TID-124': 'validating' },
  },
  {
    minute: 556.4,
    says: 'TID-104 is on its way to production.',
    shows: { 'TID-104': 'deploying' },
  },
];

/** `clockText(97.2)` is `09:37`. */
export function clockText(minute: number): string {
  const whole = Math.floor(minute) + 8 * 60;
  return `${twoDigits(Math.floor(whole / 60))}:${twoDigits(whole % 60)}`;
}

function twoDigits(part: number): string {
  return String(part).padStart(2, '0');
}

// Git reads what it knows of all worktrees for nearly everything, also of one that another git is just writing down;
// it then gives up. That is over in a moment, and the same question is asked again.
import { setTimeout as sleep } from 'node:timers/promises';

const TIMES = 40;
const PAUSE_MS = 50;
const halfWritten = /\bworktrees\/[^/\s]+\/(?:commondir|gitdir)\b/;

export function isHalfWritten(answer: { exitCode: number; stderr: string }): boolean {
  return answer.exitCode !== 0 && halfWritten.test(answer.stderr);
}

/** `ask` must be right to repeat: it did nothing, or says anew what is left to do. */
export async function askWhole<Answer>(
  ask: () => Promise<Answer>,
  isWorthAnother: (answer: Answer) => boolean,
  pauseMs = PAUSE_MS,
): Promise<Answer> {
  for (let left = TIMES; ; left -= 1) {
    const answer = await ask();
    if (left === 0 || !isWorthAnother(answer)) return answer;
    await sleep(pauseMs);
  }
}

// Tickets that are to be done in the order that the tracker tells: each is given what blocks it, and the waves
// come from that.
import { type Dependencies, type OutsideBlocker, readPlan } from '@svc/core';
import { Failure } from '../../errors.ts';
import { problemWords, type RunWish, realFolder } from './begin-run.ts';

/** What blocks which of the tickets, by the tracker of the project in the folder. */
export type AskDependencies = (project: string, tickets: readonly string[]) => Promise<Dependencies>;

export async function planByDependencies(
  wish: RunWish,
  ask: AskDependencies,
): Promise<{ wish: RunWish; outside: OutsideBlocker[] }> {
  // What is no plan at all is not worth a question.
  const read = readPlan(wish.plan);
  if (!read.ok) throw new Failure('usage', problemWords(read.problems));
  const { tickets, outside } = await ask(await realFolder(wish.project), read.plan.waves.flat());
  return { wish: { ...wish, plan: { file: { tickets } } }, outside };
}

// What every teller of the tape has at hand: where facts go, chance, the voice of outside, and the time of a minute.
import type { Random } from '../random.ts';
import type { Fact, FactBody } from './fact.ts';
import { type Person, type PlannedTicket, people } from './product.ts';
import type { Voice } from './voice.ts';

export type Told = {
  facts: Fact[];
  random: Random;
  voice: Voice;
  /** The moment of a minute of the day. */
  timeOf: (minute: number) => Date;
  /** A process that lives as long as the tape is played. */
  livingPid: number;
  nextDeployment: () => number;
};

export type Tell = (at: number, body: FactBody) => void;

export function tellInto({ facts }: Told): Tell {
  return (at, body) => void facts.push({ at, ...body });
}

/** Anybody but the one whose ticket it is. */
export function colleagueOf({ random }: Told, { person }: PlannedTicket): Person {
  return random.pick(people.filter((other) => other !== person));
}

export function hexOf(random: Random, length: number): string {
  return random
    .bytes(Math.ceil(length / 2))
    .toString('hex')
    .slice(0, length);
}

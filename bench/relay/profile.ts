// Where the time of a relay process went.
import { functionTimes } from '../cpu-profile.ts';
import type { BenchRelay } from './world.ts';

const SHOWN = 30;

/** Stops the relay: the profile is written at its end. */
export async function printProfile({ relay, profile }: BenchRelay): Promise<void> {
  await relay.stop();
  console.log('\nwhere the time of the relay process goes, in ms of its own');
  const rows = functionTimes(profile).toSorted((left, right) => right.own - left.own);
  for (const row of rows.slice(0, SHOWN))
    console.log(`${row.own.toFixed(0).padStart(8)}  ${row.name}  ${row.where}`);
}

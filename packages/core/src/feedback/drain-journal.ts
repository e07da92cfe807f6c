// What a drain notes beside the queue, one JSON object per line: that a line is about to be filed, before the
// call is made, and what became of it. An attempt without an ending may have made a ticket.
import { z } from 'zod';

export const Destination = z.enum(['tracker', 'codehost']);
export type Destination = z.infer<typeof Destination>;

export const DrainRecord = z.discriminatedUnion('state', [
  z.object({ state: z.literal('trying'), key: z.string(), destination: Destination, at: z.iso.datetime() }),
  z.object({
    state: z.literal('filed'),
    key: z.string(),
    destination: Destination,
    filedAs: z.string(),
    url: z.string(),
  }),
  /** It is certain that the attempt made nothing. */
  z.object({ state: z.literal('refused'), key: z.string() }),
]);
export type DrainRecord = z.infer<typeof DrainRecord>;

type Ended = Extract<DrainRecord, { state: 'filed' }>;
type Tried = Extract<DrainRecord, { state: 'trying' }>;

/** The state of each key. A torn last line is one that never was: the call behind it was not made. */
export function readDrainJournal(text: string): Map<string, Ended | Tried> {
  const states = new Map<string, Ended | Tried>();
  for (const line of text.split('\n')) {
    const record = recordIn(line);
    if (record === undefined || states.get(record.key)?.state === 'filed') continue;
    if (record.state === 'refused') states.delete(record.key);
    // The first attempt is the one to look for: its ticket is the oldest that there can be.
    else if (record.state === 'filed' || !states.has(record.key)) states.set(record.key, record);
  }
  return states;
}

function recordIn(line: string): DrainRecord | undefined {
  try {
    return DrainRecord.safeParse(JSON.parse(line)).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

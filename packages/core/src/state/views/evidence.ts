// How something is known. A delivery was observed, a poll was fetched, the rest is somebody's word.
export type Evidence = 'observed' | 'fetched' | 'claimed' | 'person';

export type Fact = {
  /** When it happened, where that is known. */
  at: string | null;
  seq: number | null;
  source: Evidence;
  text: string;
};

/** `via` of a line of the code host or the tracker. */
export function evidenceOf(via: string): 'observed' | 'fetched' {
  return via === 'poll' ? 'fetched' : 'observed';
}

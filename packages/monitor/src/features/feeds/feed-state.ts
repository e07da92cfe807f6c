// The last reported state of a feed.
import type { Feed } from './entity.ts';

/** The last reported state of a feed. */
export type FeedState = Omit<Feed, 'key'>;

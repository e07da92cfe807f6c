// A feed as the log tells it: its last edge.
export type FeedState = {
  feed: string;
  grade: string;
  since: string;
  reason: string | null;
  remedy: string | null;
  lastSeq: number;
};

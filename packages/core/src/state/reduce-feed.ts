// A feed after one more line: its grade is the topic's last word.
import { feedGrades } from '../log/own-details.ts';
import { timeAt } from '../receive/payload-fields.ts';
import type { FoldedLine } from './board-shape.ts';
import type { FeedState } from './feed-state.ts';
import { shortTextAt } from './line-fields.ts';

const grades: ReadonlyMap<string, string> = new Map(
  feedGrades.map((grade) => [`monitor.feed.${grade}`, grade]),
);

export const feedTopics: readonly string[] = [...grades.keys()];

export function reduceFeed(known: FeedState | undefined, line: FoldedLine): FeedState | undefined {
  const feed = shortTextAt(line.detail, 'feed');
  const grade = grades.get(line.event);
  if (feed === undefined || grade === undefined) return known;
  const since = timeAt(line.detail, 'since') ?? line.ts;
  return {
    feed,
    grade,
    since: known?.grade === grade ? known.since : since,
    reason: shortTextAt(line.detail, 'reason') ?? null,
    remedy: shortTextAt(line.detail, 'remedy') ?? null,
    lastSeq: line.seq,
  };
}

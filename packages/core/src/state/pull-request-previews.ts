// Where a pull request can be tried out: links in its comments that call themselves a preview, and the
// addresses of environments that are not production.
import { integerAt } from '../receive/payload-fields.ts';
import type { FoldedLine } from './board-shape.ts';
import { isOlder, upstreamTime, withEntry } from './line-fields.ts';
import { previewLinksIn } from './preview-links.ts';
import type { PreviewSource, PullRequest } from './pull-request.ts';

const MOST_SOURCES = 30;
const MOST_PREVIEWS = 20;

export function withComment(known: PullRequest, line: FoldedLine): PullRequest {
  const { detail, event } = line;
  const id = integerAt(detail, 'commentId');
  if (id === undefined) return known;
  const kind = event.startsWith('codehost.issue_comment.') ? 'comment' : 'review-comment';
  const gone = event.endsWith('.deleted');
  const { body } = detail;
  const links = gone || typeof body !== 'string' ? [] : previewLinksIn(body, known.url ?? undefined);
  return withPreviews(known, { source: `${kind}:${id}`, links, at: upstreamTime(line), gone });
}

/** A deleted comment does not come back, and an older text does not replace a newer one. */
export function withPreviews(known: PullRequest, told: PreviewSource): PullRequest {
  const isSame = ({ source }: PreviewSource): boolean => source === told.source;
  const before = known.previewSources.find(isSame);
  if (before === undefined && told.links.length === 0 && !told.gone) return known;
  if (before !== undefined && (before.gone || isOlder(told.at, before.at) || isEqual(before, told)))
    return known;
  const previewSources = withEntry(known.previewSources, isSame, told, MOST_SOURCES);
  const previews = [...new Set(previewSources.flatMap(({ links }) => links))].slice(-MOST_PREVIEWS);
  return { ...known, previewSources, previews };
}

function isEqual(before: PreviewSource, told: PreviewSource): boolean {
  return (
    before.gone === told.gone && before.at === told.at && before.links.join(' ') === told.links.join(' ')
  );
}

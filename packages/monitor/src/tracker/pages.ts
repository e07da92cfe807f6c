// All pages of a list. A server that goes in circles, or never ends, is stopped.
import { TrackerError } from './tracker-error.ts';

const MOST_PAGES = 200;

type Page<Node> = { nodes: Node[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } };

export async function allPages<Node>(ask: (after: string | null) => Promise<Page<Node>>): Promise<Node[]> {
  const nodes: Node[] = [];
  const seen = new Set<string | null>([null]);
  for (let after: string | null = null; seen.size <= MOST_PAGES; ) {
    const page = await ask(after);
    nodes.push(...page.nodes);
    if (!page.pageInfo.hasNextPage) return nodes;
    after = page.pageInfo.endCursor;
    if (seen.has(after)) throw endless('its pages go in circles');
    seen.add(after);
  }
  throw endless(`a list has more than ${MOST_PAGES} pages`);
}

function endless(message: string): TrackerError {
  return new TrackerError({ kind: 'malformed', message });
}

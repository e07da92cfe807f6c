// Which lines somebody asks for: the plain conditions that need no filter language. A condition that no
// line can ever meet is refused, because waiting for it would be waiting for ever.
import type { EventLine } from './event-line.ts';
import { suggestTopic, type Topic, topicsMatching } from './topics.ts';

export type EventFilter = {
  /** A line is of one of these topics. */
  topics?: ReadonlySet<string> | undefined;
  ticket?: string | undefined;
  repo?: string | undefined;
  pr?: number | undefined;
  /** The head or the merge commit. */
  sha?: string | undefined;
  orchestrator?: string | undefined;
  worker?: string | undefined;
  deploymentId?: number | undefined;
};

export type TopicAnswer = { ok: true; topics: ReadonlySet<Topic> } | { ok: false; message: string };

/** The topics that a glob selects, or why it can select none. */
export function topicsOfGlob(glob: string): TopicAnswer {
  const topics = topicsMatching(glob);
  if (topics.length > 0) return { ok: true, topics: new Set(topics) };
  const suggestion = suggestTopic(glob);
  const hint = suggestion === undefined ? 'See the topics: svc events topics' : `Did you mean ${suggestion}?`;
  return { ok: false, message: `No event can have the topic ${glob}. ${hint}` };
}

export function matchesFilter(
  { event, scope }: Pick<EventLine, 'event' | 'scope'>,
  filter: EventFilter,
): boolean {
  return (
    (filter.topics === undefined || filter.topics.has(event)) &&
    (filter.ticket === undefined || scope.ticket === filter.ticket) &&
    (filter.repo === undefined || scope.repo === filter.repo) &&
    (filter.pr === undefined || scope.pr === filter.pr) &&
    (filter.sha === undefined || scope.sha === filter.sha || scope.mergeSha === filter.sha) &&
    (filter.orchestrator === undefined || scope.orchestrator === filter.orchestrator) &&
    (filter.worker === undefined || scope.worker === filter.worker) &&
    (filter.deploymentId === undefined || scope.deploymentId === filter.deploymentId)
  );
}

/** Topics written out in a jq filter (`.event == "…"`, `.event | startswith("…")`) that cannot exist. */
export function impossibleTopicIn(jq: string): string | undefined {
  for (const [, literal = ''] of jq.matchAll(/\.event\s*==\s*"([^"\\]*)"/g)) {
    if (topicsMatching(literal).length === 0) return literal;
  }
  for (const [, prefix = ''] of jq.matchAll(/\.event\s*\|\s*startswith\(\s*"([^"\\]*)"\s*\)/g)) {
    if (topicsMatching(`${prefix}*`).length === 0) return `${prefix}*`;
  }
  return undefined;
}

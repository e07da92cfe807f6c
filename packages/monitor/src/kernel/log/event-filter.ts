// Which lines a client asks for: plain conditions that need no filter language. A condition that no line can ever meet
// is refused, because waiting for it would never end.
import type { EventLine } from './event-line.ts';
import type { Topic, TopicTable } from './topics.ts';

export type EventFilter = {
  /** The line has one of these topics. */
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

/** The topics that a glob matches, or an error if it matches none. */
export function topicsOfGlob(topics: TopicTable, glob: string): TopicAnswer {
  const matching = topics.matching(glob);
  if (matching.length > 0) return { ok: true, topics: new Set(matching) };
  const suggestion = topics.suggest(glob);
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

/** The first topic literal in a jq filter (`.event == "…"`, `.event | startswith("…")`) that does not exist. */
export function impossibleTopicIn({ matching }: TopicTable, jq: string): string | undefined {
  for (const [, literal = ''] of jq.matchAll(/\.event\s*==\s*"([^"\\]*)"/g)) {
    if (matching(literal).length === 0) return literal;
  }
  for (const [, prefix = ''] of jq.matchAll(/\.event\s*\|\s*startswith\(\s*"([^"\\]*)"\s*\)/g)) {
    if (matching(`${prefix}*`).length === 0) return `${prefix}*`;
  }
  return undefined;
}

// A starting point in the log as a user writes it: a seq, a time, or how long ago.

export type Since = { seq: number } | { time: number };

const units: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** `1234` is a seq (lines after it), `2026-01-02T03:04:05Z` a time, `90s`, `15m`, `2h`, `3d` a while ago. */
export function parseSince(text: string, now: number): Since | undefined {
  if (/^\d{1,15}$/.test(text)) return { seq: Number(text) };
  const ago = durationMs(text);
  if (ago !== undefined) return { time: now - ago };
  const isDate = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)?)?$/.test(text);
  const time = isDate ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : { time };
}

/** `90s`, `15m`, `2h`, `3d`, `1w` in milliseconds; undefined for anything else. */
export function durationMs(text: string): number | undefined {
  const match = /^(\d{1,9})(s|m|h|d|w)$/.exec(text);
  const unit = units[match?.[2] ?? ''];
  return match === null || unit === undefined ? undefined : Number(match[1]) * unit;
}

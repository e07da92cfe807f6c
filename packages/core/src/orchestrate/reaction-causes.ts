// Why a worker is told of its pull request, and what it was told of already.

/** Of each cause; then a person is asked. */
export const MOST_REACTIONS = 3;
export const reactionCauses = ['checks', 'review'] as const;
export type ReactionCause = (typeof reactionCauses)[number];

/** The commits and reviews of a cause, oldest first. One more than may be told: it goes on all the same. */
export type Reactions = Readonly<Record<ReactionCause, readonly string[]>>;

export const noReactions: Reactions = { checks: [], review: [] };

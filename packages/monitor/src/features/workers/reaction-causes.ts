// Why a worker gets a message about its pull request, and which messages it already got.

/** Messages for each cause; after that, a person is asked. */
export const MOST_REACTIONS = 3;
export const reactionCauses = ['checks', 'review'] as const;
export type ReactionCause = (typeof reactionCauses)[number];
/** Why svc sends a message to an agent: also because its ticket was changed. */
export type MessageCause = ReactionCause | 'ticket';
/** Why an agent is started again: also for a message of a person. */
export const recallCauses = [...reactionCauses, 'ticket', 'message'] as const;
export type RecallCause = (typeof recallCauses)[number];

/** The commits and reviews of a cause, oldest first. One more than the limit means that the problem persists. */
export type Reactions = Readonly<Record<ReactionCause, readonly string[]>>;

export const noReactions: Reactions = { checks: [], review: [] };

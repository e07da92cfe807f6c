// What a person is shown of a request whole, so that they can allow it.

/** A person must see everything that they allow, so a longer input is not offered. */
export const MOST_INPUT = 4_000;
/** Why a request cannot be allowed, and what to do. */
export const cutRequest = {
  why: 'It is too long to be shown whole (more than 4,000 characters, 20 files or 256 KiB of a file), so it cannot be allowed through svc.',
  fix: 'Reject it, and tell the agent to put it into a file that you can read first.',
} as const;

/** The answers that a hook takes. */
export const hookAnswers = ['allow_once', 'reject_once'] as const;

// The conditions of the event tools: those of the verbs, under names that a model guesses.
import { z } from 'zod';
import { type Conditions, readConditions } from '../../event-conditions.ts';

export const eventInput = {
  topic: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('topic, * stands for anything: codehost.pr.merged, codehost.deployment_status.*'),
  ticket: z.string().min(1).max(120).optional().describe('events of this ticket, like ABC-12'),
  pr: z.int().min(1).max(999_999_999).optional().describe('events of this pull request'),
  repo: z.string().min(1).max(200).optional().describe('events of this repository, owner/name'),
  filter: z
    .string()
    .min(1)
    .max(4_000)
    .optional()
    .describe('a jq filter that must be true: .scope.environment == "production"'),
  since: z
    .string()
    .min(1)
    .max(40)
    .optional()
    .describe('after this seq, or from an ISO time or a duration ago (15m) on'),
};

export function conditionsOf(
  given: {
    topic?: string | undefined;
    ticket?: string | undefined;
    pr?: number | undefined;
    repo?: string | undefined;
    since?: string | undefined;
  },
  now: Date,
): Conditions {
  const { topic: event, ticket, pr, repo, since } = given;
  return readConditions(
    { event, ticket, repo, since, pr: pr === undefined ? undefined : String(pr) },
    now.getTime(),
  );
}

export const eventLine = z.looseObject({ seq: z.number(), ts: z.string(), event: z.string() });

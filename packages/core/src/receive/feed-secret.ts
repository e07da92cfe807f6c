// Whether deliveries of a feed can be verified, and how to fix it if not.

/** svc generates 64 characters; anything shorter than this could be guessed. */
export const SHORTEST_SECRET = 16;

export type FeedSecrets = {
  /** The variables named in the configuration of all projects. */
  variables: readonly string[];
  /** The values that verify deliveries. */
  values: readonly string[];
  /** The variables whose value is not used because it is too short. */
  short?: readonly string[];
};

export function secretProblem(
  feed: 'codehost' | 'tracker',
  { variables, values, short = [] }: FeedSecrets,
): { why: string; remedy: string } | undefined {
  if (short.length > 0)
    return {
      why: `${short.join(' and ')} ${short.length === 1 ? 'is' : 'are'} not used: a secret of fewer than ${SHORTEST_SECRET} characters could be guessed`,
      remedy: `Make a new one: setup-webhooks.sh ${feed === 'tracker' ? '--linear-register ' : ''}--force; unset ${short.join(' ')} where it is exported; then: svc-monitor.sh restart`,
    };
  if (values.length > 0) return undefined;
  return {
    why: `no secret: ${variables.join(' and ')} not set`,
    remedy: `Set ${variables.join(' or ')} and run: svc-monitor.sh restart`,
  };
}

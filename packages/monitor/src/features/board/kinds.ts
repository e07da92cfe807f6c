// The kinds of entities that the board shows.

/** The entities that the board shows. */
export const boardKinds = [
  'workers',
  'pullRequests',
  'deployments',
  'tickets',
  'runs',
  'attention',
  'feeds',
  'sessions',
  'members',
  'team',
] as const;

export type BoardKind = (typeof boardKinds)[number];

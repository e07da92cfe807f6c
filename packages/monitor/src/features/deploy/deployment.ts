// A deployment as the fold keeps it.
import type { Deployment as ShownDeployment } from './entity.ts';

/** Each state once, in the order of the events, with its first event. */
export type Deployment = Omit<ShownDeployment, 'key'>;

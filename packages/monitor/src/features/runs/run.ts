// A run as the fold keeps it.
import type { Run as ShownRun } from './entity.ts';

export type Run = Omit<ShownRun, 'key'>;

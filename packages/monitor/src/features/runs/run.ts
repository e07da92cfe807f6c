// A run as the fold keeps it.
import type { Run as ShownRun } from '../board/entities.ts';

export type Run = Omit<ShownRun, 'key'>;

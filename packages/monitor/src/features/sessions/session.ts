// A session as the fold keeps it.
import type { Session as ShownSession } from './entity.ts';

export type Session = ShownSession;

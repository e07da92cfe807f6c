// A session as the fold keeps it.
import type { Session as ShownSession } from '../board/entities.ts';

export type Session = ShownSession;

// An attention item, and what a person did with it last.
import type { AttentionItem } from './entity.ts';

/** One item per orchestrator, ticket and reason (and feed), however often it is raised, until its cause is gone or a person resolves it. */
export type { AttentionItem };

/** `before` is the item as it was. */
export type Undoable = {
  id: string;
  action: 'acknowledge' | 'snooze' | 'hand-over' | 'resolve';
  by: string;
  seq: number;
  before: AttentionItem;
};

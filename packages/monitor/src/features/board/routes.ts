// GET /api/board and /api/board/changes.
import { goneWith, type Routes, route } from '../../kernel/http/route.ts';
import { api } from '../api.ts';
import { type BoardParts, createBoardViews } from './service.ts';

export function boardRoutes(options: BoardParts): Routes {
  const views = createBoardViews(options);
  return (app) => {
    route(app, api.getBoard, ({ query }, reply) => views.view(query, goneWith(reply)));
    route(app, api.getBoardChanges, ({ query }) => views.changes(query));
  };
}

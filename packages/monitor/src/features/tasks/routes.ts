// POST /api/tasks: a task becomes a ticket and a run.
import { type Routes, route } from '../../kernel/http/route.ts';
import { api } from '../api.ts';
import { createTaskStart, type TaskParts } from './service.ts';

export function taskRoutes(options: TaskParts): Routes {
  const start = createTaskStart(options);
  return (app) => route(app, api.startTask, ({ body }) => start(body));
}

// A worker of another machine as the API shows it.
import { z } from 'zod';
import { Worker } from '../workers/entity.ts';

/** On the board of a team. */
export type TeamWorkerView = z.infer<typeof TeamWorker>;

export const TeamWorker = Worker.extend({
  title: z
    .string()
    .nullable()
    .exactOptional()
    .describe('Of its ticket; of another machine only if that one shares titles'),
}).meta({ id: 'TeamWorker' });

// What a daemon says about itself, to anyone who looks for it.
import { z } from 'zod';

/** What distinguishes one daemon from every other process; it is also in daemon.json, by which the daemon is found. */
const DaemonIdentity = z.object({
  instance: z.uuid(),
  pid: z.int().positive(),
  port: z.int().min(1).max(65_535),
  url: z.url(),
  version: z.string(),
  startedAt: z.iso.datetime(),
});

/** What a daemon that answers shows of itself. */
export const DaemonAnswer = DaemonIdentity.extend({
  filesChecked: z
    .boolean()
    .exactOptional()
    .describe('Whether the first check of every file is over; `svc monitor start` waits for it'),
});

export type DaemonAnswer = z.infer<typeof DaemonAnswer>;

export type DaemonIdentity = z.infer<typeof DaemonIdentity>;

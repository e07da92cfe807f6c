// How the daemon identifies itself: in the health answer, and in daemon.json, by which it is found.
import { z } from 'zod';

/** The part of the health answer that distinguishes one daemon from every other process. */
export const DaemonIdentity = z.object({
  instance: z.uuid(),
  pid: z.int().positive(),
  port: z.int().min(1).max(65_535),
  url: z.url(),
  version: z.string(),
  startedAt: z.iso.datetime(),
});

/** daemon.json, written when the daemon starts to listen: a hint, not a proof that it still runs. */
export const DaemonRecord = DaemonIdentity.extend({ state: z.enum(['running', 'stopping']) });

export type DaemonIdentity = z.infer<typeof DaemonIdentity>;
export type DaemonRecord = z.infer<typeof DaemonRecord>;

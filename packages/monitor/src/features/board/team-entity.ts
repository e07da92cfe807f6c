// A worker of another machine as the API shows it.

import { z } from 'zod';
import { Seq, Time } from '../../kernel/http/api-route.ts';
import { AttentionItem } from '../attention/entity.ts';
import { Run } from '../runs/entity.ts';
import { Session } from '../sessions/entity.ts';
import { Worker } from '../workers/entity.ts';

/** The id of a machine: a hash of its public key. */
export const MachineId = z.string().regex(/^[A-Za-z0-9_-]{22}$/);
export const LONGEST_NAME = 100;

/** On the board of a team. */
export type TeamWorkerView = z.infer<typeof TeamWorker>;

export const TeamWorker = Worker.extend({
  title: z
    .string()
    .nullable()
    .exactOptional()
    .describe('Of its ticket; of another machine only if that one shares titles'),
}).meta({ id: 'TeamWorker' });

const name = z.string().min(1).max(LONGEST_NAME);
/** Who works on a machine of the team. */
const Member = z.object({
  id: MachineId.describe('of the machine'),
  person: name,
  machine: name,
  role: z.enum(['admin', 'member']),
});

const last = { lastSeq: Seq, lastAt: Time.describe('When this machine received it') };

/** A machine of the team, and what another machine has published, on the board of this one. */
export const MemberOnBoard = z.object({
  key: z.string(),
  ...Member.shape,
  ...last,
});
const record = <Kind extends string, Value extends z.ZodType>(kind: Kind, value: Value) =>
  z.object({
    key: z.string(),
    machine: z.string().describe('Its id'),
    kind: z.literal(kind),
    value: value.nullable().describe('Null: it no longer exists'),
    ...last,
  });
export const RecordOnBoard = z.discriminatedUnion('kind', [
  record('worker', TeamWorker),
  record('run', Run),
  record('session', Session),
  record('attention', AttentionItem),
]);

export const leftOut = {
  shown: z.int().describe('How many of its things are shown'),
  of: z.int().describe('How many it has published'),
};
export type LeftOut = z.infer<typeof LeftOut>;
export const LeftOut = z.object({ machine: z.string().describe('Its id'), ...leftOut });

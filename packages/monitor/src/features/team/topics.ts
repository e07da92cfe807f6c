// The detail of events about the team.
import { z } from 'zod';
import { count, Detail, text, topicFamily } from '../../kernel/log/topic-family.ts';
import type { DetailsIn } from '../../kernel/log/topics.ts';
import { commandEnds, TeamCommand } from './command.ts';

/** The machines of the team from this line on; none: this machine has left it. */
const TeamRosterDetail = Detail.extend({
  team: text.describe('its name'),
  version: count.describe('of the roster'),
  machines: z.array(
    z.object({ id: z.string(), machine: z.string(), person: z.string(), role: z.enum(['admin', 'member']) }),
  ),
});

/** What another machine of the team has published: signed, decrypted and checked before it became a line. */
const TeamRecordDetail = Detail.extend({
  machine: z.string().describe('its id'),
  kind: z.string(),
  key: z.string().describe('the key of the thing on the board of that machine'),
  version: z.int(),
  value: z.record(z.string(), z.unknown()).optional(),
});

const ofCommand = {
  command: z.string().describe('its id'),
  from: z.string().describe('the id of the machine that asks'),
};

/** A command to a machine of the team: `sent` at the machine that asks, `received` at the one that executes it. */
const TeamCommandDetail = Detail.extend({
  ...ofCommand,
  to: z.string().describe('the id of the machine that is asked'),
  request: TeamCommand,
  expiresAt: z.iso.datetime(),
  by: text.describe('who asks'),
});

/** At both machines. */
const TeamCommandEndDetail = Detail.extend({
  ...ofCommand,
  state: z.enum(commandEnds),
  why: text,
  remedy: text,
  by: text.describe('who asked'),
});

export const teamTopics = {
  ...topicFamily('team.roster', ['changed'], TeamRosterDetail),
  ...topicFamily('team.record', ['changed', 'removed'], TeamRecordDetail),
  ...topicFamily('team.command', ['sent', 'received'], TeamCommandDetail),
  ...topicFamily('team.command', ['ended'], TeamCommandEndDetail),
  ...topicFamily('team.command', ['closed'], Detail.extend(ofCommand)),
};

declare module '../../kernel/log/topics.ts' {
  interface TopicDetails extends DetailsIn<typeof teamTopics> {}
}

// attention: what needs a person. attention_act: acts on one item, in the name of the user and of this server.
import type { Answer } from '@svc/client';
import { z } from 'zod';
import { needDaemon, requestedBy } from '../../cli/kit/daemon.ts';
import type { DaemonClient } from '../../cli/kit/daemon-client.ts';
import { machineField, onMachine } from '../../cli/kit/machine-tool.ts';
import { plainText } from '../../cli/kit/text.ts';
import { linesOf, readOnly, tool } from '../../cli/kit/tool.ts';
import { Failure } from '../../kernel/failure.ts';
import { printAttention } from './verbs.ts';

type AttentionAnswer = Answer<'POST', '/api/attention/ack'>;

const LONGEST_NAME = 100;

const entry = z.looseObject({
  id: z.string(),
  reason: z.string(),
  message: z.string(),
  severity: z.string(),
});

export const attentionTool = tool({
  name: 'attention',
  title: 'What needs a person',
  description:
    'Open items that need a person, most urgent first, each with its reason and the command that fixes it; and snoozed items.',
  scope: 'read',
  hints: readOnly,
  input: z.strictObject({}),
  output: z.looseObject({ open: z.array(entry), snoozed: z.array(entry) }),
  async call(_given, { terminal }) {
    const view = await (await needDaemon(terminal)).get('/api/attention');
    const { open, snoozed } = view;
    return {
      structured: view,
      text: open.length === 0 ? `No open items, ${snoozed.length} snoozed.` : `${open.length} open.`,
      outside:
        open.length + snoozed.length === 0
          ? []
          : linesOf(terminal, (capture) => printAttention(capture, view)),
    };
  },
});

const actions = { ack: [], resolve: [], undo: [], snooze: ['for'], 'hand-over': ['to'] } as const;

export const attentionActTool = tool({
  name: 'attention_act',
  title: 'Act on an attention item',
  description:
    'ack: acknowledge it. snooze: hide it for a while (for). hand-over: give it to another person (to, note). resolve: remove it from the list; refused while svc sees that its cause exists. undo: take back the last of these. A person may then not see it, so do this only when asked to.',
  scope: 'attention',
  hints: { readOnly: false, destructive: true, idempotent: false },
  input: z.strictObject({
    id: z.string().min(1).max(500).describe('the id of an open item, like run-1/ABC-12/deploy-timeout'),
    action: z.enum(['ack', 'snooze', 'resolve', 'hand-over', 'undo']),
    for: z.string().min(1).max(20).optional().describe('snooze: how long, at most 30d, like 2h'),
    to: z.string().min(1).max(LONGEST_NAME).optional().describe('hand-over: who is responsible from now on'),
    note: z.string().min(1).max(1_000).optional().describe('hand-over: what they should know'),
    machine: machineField('ack and hand-over'),
  }),
  output: z.looseObject({ ok: z.boolean(), item: entry.nullable().optional() }),
  async call({ id, action, machine, ...given }, { terminal }) {
    refuseOtherFields(action, given);
    if (machine !== undefined) {
      if (action === 'ack') return onMachine(terminal, machine, { verb: 'acknowledge', item: id });
      if (action === 'hand-over')
        return onMachine(terminal, machine, { verb: action, item: id, to: given.to ?? '', note: given.note });
      throw new Failure('usage', `attention_act: ${action} does not take "machine".`);
    }
    const answer = await act(await needDaemon(terminal), action, {
      id,
      ...given,
      by: nameOf(requestedBy(terminal).by),
    });
    return {
      structured: answer,
      text: answer.item === null ? 'Resolved.' : `Done: ${action}.`,
      outside: [plainText(id)],
    };
  },
});

type Given = {
  id: string;
  by: string;
  for?: string | undefined;
  to?: string | undefined;
  note?: string | undefined;
};

function act(daemon: DaemonClient, action: keyof typeof actions, given: Given): Promise<AttentionAnswer> {
  const { id, by, for: duration = '', to = '', note } = given;
  switch (action) {
    case 'snooze':
      return daemon.post('/api/attention/snooze', { body: { id, by, for: duration } });
    case 'hand-over':
      return daemon.post('/api/attention/hand-over', { body: { id, by, to, note } });
    case 'ack':
    case 'resolve':
    case 'undo':
      return daemon.post(`/api/attention/${action}`, { body: { id, by } });
  }
}

/** An extra field is an error: ignoring it would look as if it had an effect. */
function refuseOtherFields(action: keyof typeof actions, given: Record<string, string | undefined>): void {
  const needed: readonly string[] = actions[action];
  for (const name of needed)
    if (given[name] === undefined) throw new Failure('usage', `attention_act: ${action} needs "${name}".`);
  const allowed = action === 'hand-over' ? [...needed, 'note'] : needed;
  const other = Object.keys(given).find((name) => given[name] !== undefined && !allowed.includes(name));
  if (other !== undefined) throw new Failure('usage', `attention_act: ${action} does not take "${other}".`);
}

/** Marks in the log that the action came through MCP. */
function nameOf(user: string | undefined): string {
  const mark = ' via mcp';
  return user === undefined ? 'mcp' : user.slice(0, LONGEST_NAME - mark.length) + mark;
}

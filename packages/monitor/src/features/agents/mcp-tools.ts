// agent: what a ticket's agent does and asks. agent_act: answers it, sends it a message or stops it, in the name of the
// user and of this server. An answer that also decides later requests is left to a person.
import { z } from 'zod';
import { needDaemon, requestedBy } from '../../cli/kit/daemon.ts';
import { machineField, onMachine } from '../../cli/kit/machine-tool.ts';
import { plainText } from '../../cli/kit/text.ts';
import { linesOf, readOnly, tool } from '../../cli/kit/tool.ts';
import { Failure } from '../../kernel/failure.ts';
import { printAgent } from './verbs/agent.ts';

const SHOWN_ITEMS = 30;
const ticket = z.string().min(1).max(120).describe('like ABC-12');

export const agentTool = tool({
  name: 'agent',
  title: "What a ticket's agent does",
  description:
    'The state of a ticket’s agent, the newest part of its conversation, and its open requests with their ids.',
  scope: 'read',
  hints: readOnly,
  input: z.strictObject({ ticket }),
  output: z.looseObject({ ticket: z.string(), agent: z.looseObject({}).nullable() }),
  async call(given, { terminal }) {
    const view = await (await needDaemon(terminal)).get('/api/workers/{ticket}/agent', {
      params: given,
      query: {},
    });
    const items = view.items.slice(-SHOWN_ITEMS);
    return {
      structured: { ...view, items },
      text: view.agent === null ? 'No agent was started yet.' : `State: ${view.agent.state ?? 'unknown'}.`,
      outside: linesOf(terminal, (capture) => printAgent(capture, view, SHOWN_ITEMS)),
    };
  },
});

export const agentActTool = tool({
  name: 'agent_act',
  title: 'Answer, message or stop an agent',
  description:
    'allow_once, reject_once: answer an open permission (request). message: send a text; a busy agent gets it when it is idle. stop: end its turn. An answer lets the agent act on the machine, so give one only when asked to.',
  scope: 'agents',
  hints: { readOnly: false, destructive: true, idempotent: false },
  input: z.strictObject({
    ticket,
    action: z.enum(['allow_once', 'reject_once', 'message', 'stop']),
    request: z.string().min(1).max(200).optional().describe('the id of an open request'),
    text: z.string().min(1).max(100_000).optional().describe('the message'),
    machine: machineField('all but stop'),
  }),
  output: z.looseObject({ ok: z.boolean() }),
  async call({ ticket: named, action, request, text, machine }, { terminal }) {
    const daemon = await needDaemon(terminal);
    const params = { ticket: named };
    const by = (requestedBy(terminal).by ?? 'a person').slice(0, 90).concat(' via mcp');
    const done = { structured: { ok: true }, outside: [plainText(named)] };
    if (action === 'stop') {
      if (machine !== undefined) throw new Failure('usage', 'agent_act: stop does not take "machine".');
      await daemon.post('/api/workers/{ticket}/agent/stop', { params, body: { by } });
      return { ...done, text: 'Stopped the turn.' };
    }
    if (action === 'message') {
      if (text === undefined) throw new Failure('usage', 'agent_act: message needs "text".');
      if (machine !== undefined) return onMachine(terminal, machine, { verb: 'send', ticket: named, text });
      const { queued } = await daemon.post('/api/workers/{ticket}/agent/message', {
        params,
        body: { text, by },
      });
      return { ...done, text: `Message: ${queued}.` };
    }
    if (request === undefined) throw new Failure('usage', `agent_act: ${action} needs "request".`);
    if (machine !== undefined)
      return onMachine(terminal, machine, { verb: 'answer', subject: named, request, answer: action });
    await daemon.post('/api/workers/{ticket}/agent/answer', {
      params,
      body: { request, answer: action, by },
    });
    return { ...done, text: `Answered ${action}.` };
  },
});

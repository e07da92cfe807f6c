// why and receipt: one ticket, as the verbs of these names tell it.
import { z } from 'zod';
import { needDaemon } from '../../session.ts';
import { plainText } from '../../text.ts';
import { printReceipt } from '../../verbs/receipt.ts';
import { printWhy } from '../../verbs/why.ts';
import { linesOf } from '../answer-text.ts';
import { looksOnly, tool } from '../tool.ts';

const input = z.strictObject({
  ticket: z.string().min(1).max(120).describe('like ABC-12'),
  run: z.string().min(1).max(120).optional().describe('the worker of this run; default: the newest'),
});

const asked = ({ ticket, run }: z.output<typeof input>) => ({
  params: { ticket },
  query: { orchestrator: run },
});

export const whyTool = tool({
  name: 'why',
  title: 'Why a ticket is in its state',
  description:
    'The rule that made the state of a ticket, the facts behind it by their lines in the log, what it waits for, what does not agree and what is not known.',
  scope: 'read',
  hints: looksOnly,
  input,
  output: z.looseObject({ ticket: z.string(), status: z.string(), rule: z.string() }),
  async call(given, context) {
    const daemon = await needDaemon(context.terminal);
    const answer = await daemon.get('/api/workers/{ticket}/why', asked(given));
    return {
      structured: answer,
      text: `${plainText(given.ticket)} is ${answer.status}.`,
      outside: linesOf(context.terminal, (terminal) => printWhy(terminal, answer)),
    };
  },
});

export const receiptTool = tool({
  name: 'receipt',
  title: 'Whether a ticket shipped',
  description:
    'The chain from ticket to production, link by link, and how each is known. shipped is true only with proof, false without, null when nobody can tell.',
  scope: 'read',
  hints: looksOnly,
  input,
  output: z.looseObject({ ticket: z.string(), status: z.string(), shipped: z.boolean().nullable() }),
  async call(given, context) {
    const daemon = await needDaemon(context.terminal);
    const answer = await daemon.get('/api/workers/{ticket}/receipt', asked(given));
    const verdict = answer.shipped === null ? 'cannot be told' : answer.shipped ? 'yes' : 'no';
    return {
      structured: answer,
      text: `Shipped: ${verdict}.`,
      outside: linesOf(context.terminal, (terminal) => printReceipt(terminal, answer)),
    };
  },
});

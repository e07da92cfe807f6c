// why and receipt: one ticket, as the verbs of these names show it.
import { z } from 'zod';
import { needDaemon } from '../../cli/kit/daemon.ts';
import { plainText } from '../../cli/kit/text.ts';
import { linesOf, readOnly, tool } from '../../cli/kit/tool.ts';
import { readWorkerWords } from '../workers/verbs/worker-words.ts';
import { printReceipt, printWhy } from './verbs.ts';

const input = z.strictObject({
  ticket: z.string().min(1).max(120).describe('like ABC-12'),
  run: z.string().min(1).max(120).optional().describe('agent of this run (default: the newest)'),
});

const asked = ({ ticket, run }: z.output<typeof input>) => ({
  params: { ticket },
  query: { orchestrator: run },
});

export const whyTool = tool({
  name: 'why',
  title: 'Why a ticket is in its state',
  description:
    'The rule behind the state of a ticket, the facts with their events, what it is waiting for, where sources disagree, and what is unknown.',
  scope: 'read',
  hints: readOnly,
  input,
  output: z.looseObject({ ticket: z.string(), status: z.string(), rule: z.string() }),
  async call(given, context) {
    const daemon = await needDaemon(context.terminal);
    const answer = await daemon.get('/api/workers/{ticket}/why', asked(given));
    const words = (await readWorkerWords(daemon, answer.from?.id))(answer);
    return {
      structured: answer,
      text: `${plainText(given.ticket)} is ${plainText(words)}.`,
      outside: linesOf(context.terminal, (terminal) => printWhy(terminal, answer, words)),
    };
  },
});

export const receiptTool = tool({
  name: 'receipt',
  title: 'Whether a ticket shipped',
  description:
    'The chain from ticket to production, link by link, with the evidence for each. shipped is true only with proof, false without, null when unknown.',
  scope: 'read',
  hints: readOnly,
  input,
  output: z.looseObject({ ticket: z.string(), status: z.string(), shipped: z.boolean().nullable() }),
  async call(given, context) {
    const daemon = await needDaemon(context.terminal);
    const answer = await daemon.get('/api/workers/{ticket}/receipt', asked(given));
    const verdict = answer.shipped === null ? 'unknown' : answer.shipped ? 'yes' : 'no';
    return {
      structured: answer,
      text: `Shipped: ${verdict}.`,
      outside: linesOf(context.terminal, (terminal) => printReceipt(terminal, answer)),
    };
  },
});

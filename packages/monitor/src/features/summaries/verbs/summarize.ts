// svc summarize
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Answer } from '@svc/client';
import { needDaemon } from '../../../cli/kit/daemon.ts';
import type { DaemonClient } from '../../../cli/kit/daemon-client.ts';
import { paint, printJson, type Terminal } from '../../../cli/kit/terminal.ts';
import { plainText, timeText } from '../../../cli/kit/text.ts';
import { verb } from '../../../cli/kit/verb.ts';
import { Failure } from '../../../kernel/failure.ts';
import { readFields } from '../../../kernel/http/read-fields.ts';
import { usdText } from '../../agents/cost.ts';
import { api } from '../../api.ts';
import { summaryTemplates } from '../summary-prompt.ts';

type Summary = Answer<'POST', '/api/summarize'>;

export function summarizeVerb(terminal: Terminal): CommandUnknownOpts {
  const others = summaryTemplates.filter((template) => template !== 'run-summary');
  return verb('summarize', {
    summary: 'Summarise a run with a model provider',
    example: ['svc summarize run-1', 'svc summarize run-1 --template attention-digest'],
    route: 'POST /api/summarize',
  })
    .argument('<run>', 'name of the run')
    .option('--template <name>', `run-summary (default), ${others.join(' or ')}`)
    .option('--provider <name>', 'model provider (default: svc.ai.defaultProvider)')
    .option('--model <id>', 'model (default: svc.ai.defaultModel, or the provider’s)')
    .option('--json', 'print JSON')
    .action(async (run, { json, ...choices }) => {
      const answer = await askForSummary(await needDaemon(terminal), run, choices);
      if (json) return printJson(terminal, answer);
      printText(terminal, answer.summary);
      const { provider, model, tokens, cost, cached, generatedAt } = answer;
      const when = `${timeText(generatedAt, terminal.now())}${cached ? ', cached' : ''}`;
      const figures = `${provider}, ${plainText(model)}, ${tokens} tokens, cost ${usdText(cost)}, ${when}`;
      terminal.out(paint(terminal, 'dim', figures));
    });
}

export type SummaryChoices = {
  template?: string | undefined;
  provider?: string | undefined;
  model?: string | undefined;
};

export async function askForSummary(
  daemon: DaemonClient,
  run: string,
  choices: SummaryChoices,
): Promise<Summary> {
  const read = readFields(api.summarizeRun.body, { orchId: run, ...choices });
  if (!read.ok) throw new Failure('usage', read.problem);
  try {
    return await daemon.post('/api/summarize', { body: read.fields });
  } catch (error) {
    throw withRemedy(error);
  }
}

/** Text from a model: line breaks stay, and nothing else of it may control the terminal. */
export function printText(terminal: Terminal, text: string): void {
  for (const line of text.split('\n')) terminal.out(plainText(line));
}

/** The route answers only `AI not configured`. */
function withRemedy(error: unknown): unknown {
  if (!(error instanceof Failure) || error.message !== 'AI not configured') return error;
  return new Failure(
    'not-configured',
    'AI is not configured: svc.ai.enabled is off, or no provider has a key.',
    'Run: svc config set svc.ai.enabled true, and set svc.ai.providers.provider-a.apiKeyEnv to the variable that holds the key. If the daemon was started without that variable, set it and run: svc monitor restart',
  );
}

// svc events append: a helper's fact into the log. When no daemon runs it waits in the spool.
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { helperRefusal, parseEventDraft } from '@svc/core';
import { Failure } from '../../errors.ts';
import { leaveInSpool } from '../../log/spool.ts';
import { connectDaemon } from '../daemon-client.ts';
import { openSession } from '../session.ts';
import { printJson, type Terminal } from '../terminal.ts';
import { verb } from '../verb.ts';

export function appendVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('append', {
    summary: 'Report a fact; it waits in the spool while the daemon is down',
    example: `svc events append --event orchestrator.worker.status_changed --ticket ABC-12 --detail '{"to":"implementing"}'`,
    route: 'POST /api/events',
  })
    .requiredOption('--event <topic>', 'the topic')
    .option('--detail <json>', "the topic's own fields, or - for standard input", '{}')
    .option('--ticket <id>')
    .option('--orchestrator <id>')
    .option('--worker <name>')
    .option('--repo <owner/repo>')
    .option('--key <text>', 'a fact with this key is taken once, however often it is sent')
    .action(async (options) => {
      const { machine } = openSession(terminal);
      const { ticket, orchestrator, worker, repo } = options;
      const draft = {
        event: options.event,
        source: 'cli',
        via: 'local',
        ...(options.key !== undefined && { deliveryId: options.key }),
        scope: Object.fromEntries(
          Object.entries({ ticket, orchestrator, worker, repo }).filter(([, value]) => value !== undefined),
        ),
        detail: await detailOf(terminal, options.detail),
      };
      const parsed = parseEventDraft(draft);
      if (!parsed.ok) throw new Failure('usage', `The event cannot be taken: ${parsed.problem}.`);
      const refused = helperRefusal(parsed.draft);
      if (refused !== undefined) throw new Failure('usage', refused.problem, refused.remedy);
      const daemon = await connectDaemon(machine);
      if (daemon) return printJson(terminal, await daemon.post('/api/events', { body: parsed.draft }));
      const name = await leaveInSpool({
        folder: machine.spoolDir,
        draft: parsed.draft,
        now: terminal.now().getTime(),
        random: crypto.randomUUID(),
      });
      printJson(terminal, { ok: true, spooled: name });
    });
}

async function detailOf(terminal: Terminal, text: string): Promise<unknown> {
  try {
    return JSON.parse(text === '-' ? await terminal.readInput() : text);
  } catch (error) {
    if (error instanceof SyntaxError) throw new Failure('usage', `--detail: not JSON: ${error.message}`);
    throw error;
  }
}

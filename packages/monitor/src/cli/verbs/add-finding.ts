// svc add-finding. Needs neither the daemon nor a configuration.
import { type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { type Finding, severityFrom } from '@svc/core';
import { Failure } from '../../errors.ts';
import { createFindingsQueue, findingsFile } from '../../feedback/queue.ts';
import { createReporter } from '../report-fact.ts';
import { openSession } from '../session.ts';
import { printJson, type Terminal } from '../terminal.ts';
import { verb } from '../verb.ts';

export function addFindingVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('add-finding', {
    summary: 'Queue a finding; it becomes a ticket when the run ends',
    example: [
      'add-finding.sh --title "The plan names a missing file" --body "src/old.ts"',
      'add-finding.sh --title "Slow tests" --severity high --body - < text',
    ],
    route: 'POST /api/events',
  })
    .requiredOption('--title <text>', 'one line')
    .requiredOption('--body <text>', 'what you found, or - for standard input')
    .option('--skill <name>', 'skill that found it; becomes a label', '')
    .option('--severity <severity>', 'low, medium (med) or high', 'low')
    .addOption(
      new Option('--tag <tag>', 'tag to find it by; repeatable')
        .default([] as string[])
        .argParser((tag: string, tags: string[]) => [...tags, tag]),
    )
    .option('--json', 'print JSON')
    .action(async (options) => {
      const severity = severityFrom(options.severity);
      if (severity === undefined)
        throw new Failure('usage', `--severity: expected low, medium or high, found ${options.severity}.`);
      if (options.title.trim() === '') throw new Failure('usage', '--title: expected text, found nothing.');
      const file = await addFinding(terminal, {
        skill: options.skill,
        title: options.title.trim(),
        body: options.body === '-' ? await terminal.readInput() : options.body,
        severity,
        tags: options.tag,
      });
      if (options.json) printJson(terminal, { ok: true, file });
      else terminal.out(`The finding was added to ${file}`);
    });
}

/** Adds it to the queue and reports it to the daemon; returns the queue's file. */
export async function addFinding(
  terminal: Terminal,
  given: Pick<Finding, 'title' | 'body' | 'skill' | 'severity' | 'tags'>,
): Promise<string> {
  const { machine, locks } = openSession(terminal);
  const queue = createFindingsQueue({ file: findingsFile(terminal), locks });
  await queue.append({ ts: terminal.now().toISOString(), ...given });
  const { title, severity, skill, tags } = given;
  const report = createReporter(terminal, machine);
  await report({
    event: 'feedback.finding_added',
    source: 'cli',
    via: 'local',
    scope: {},
    detail: { title, severity, skill, tags },
  });
  return queue.file;
}

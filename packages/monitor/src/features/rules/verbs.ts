// svc rules list | test

import { resolve } from 'node:path';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Answer } from '@svc/client';
import { connectDaemon } from '../../cli/kit/daemon-client.ts';
import { openSession, requireConfig } from '../../cli/kit/session.ts';
import { paint, printJson, printTable, type Terminal } from '../../cli/kit/terminal.ts';
import { ageText, plainText, utcText } from '../../cli/kit/text.ts';
import { verb, verbGroup } from '../../cli/kit/verb.ts';
import { readJsonFile } from '../../kernel/config/read-json.ts';
import { Failure } from '../../kernel/failure.ts';
import { readFields } from '../../kernel/http/read-fields.ts';
import { parseSince, type Since } from '../../kernel/log/event-filter.ts';
import { createJqThreads } from '../../kernel/log/jq-threads.ts';
import { topics } from '../topics.ts';
import { Rule } from './config.ts';
import { type BackTest, backTest, type RuleTested, selectRules, type WouldFire } from './io/back-test.ts';
import { limitWords, whatItDoes, whenItFires } from './rules.ts';

type RuleList = Answer<'GET', '/api/rules'>;

// svc rules test: when rules would have fired on the log, before they are turned on. It reads the files, so it works
// without the daemon and can show progress.

const PROGRESS_EVERY_MS = 5_000;

function rulesTestVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('test', {
    summary: 'Test rules against history; nothing is executed',
    details: 'Shows when each rule would have fired, and what it would have done.',
    example: ['svc rules test --since 14d', 'svc rules test --file rule.json --since 30d --json'],
  })
    .argument('[name]', 'only this rule')
    .option('--since <point>', 'start after a seq, or at an ISO time or age', '14d')
    .option('--file <path>', 'test the rule in this JSON file')
    .option('--json', 'print JSON')
    .action(async (name, options) => {
      const since = sinceOf(options.since, terminal.now().getTime());
      const rule =
        options.file === undefined ? undefined : await ruleIn(resolve(terminal.folder, options.file));
      const session = openSession(terminal);
      const { config } = await requireConfig(terminal, session);
      const jq = createJqThreads({ topics });
      const { matches } = jq;
      try {
        const { rules: configured, commands: known } = config.svc;
        const rules = await selectRules({ configured, name, rule, commands: Object.keys(known), matches });
        const result = await backTest({
          rules,
          eventsDir: session.machine.eventsDir,
          since,
          matches,
          signal: terminal.interrupted,
          onProgress: progress(terminal),
        });
        if (options.json) return printJson(terminal, result);
        print(terminal, result, rules);
      } finally {
        await jq.close();
      }
    });
}

function sinceOf(text: string, now: number): Since {
  const since = parseSince(text, now);
  if (since !== undefined) return since;
  throw new Failure(
    'usage',
    `--since: expected a seq, an ISO time or a duration like 14d, found ${plainText(text)}.`,
  );
}

async function ruleIn(path: string): Promise<Rule> {
  const read = await readJsonFile(path);
  if (read.state === 'broken') throw new Failure('usage', `${path}: ${read.problem.message}`);
  if (read.state !== 'read') throw new Failure('usage', `${path} does not exist.`);
  const rule = readFields(Rule, read.data);
  if (rule.ok) return rule.fields;
  throw new Failure('usage', `${path}: ${rule.problem}`, 'How to write a rule: docs/guide/rules.md');
}

/** Shown only when it takes long. */
function progress(terminal: Terminal): (done: { lines: number; at: string }) => void {
  let last = performance.now();
  return ({ lines, at }) => {
    if (performance.now() - last < PROGRESS_EVERY_MS) return;
    last = performance.now();
    terminal.err(`Read ${lines} events, up to ${utcText(at)}`);
  };
}

function print(terminal: Terminal, result: BackTest, rules: readonly Rule[]): void {
  if (result.rules.length === 0)
    return terminal.out(
      'No rules are configured. Test one with --file; how to write it: docs/guide/rules.md',
    );
  for (const test of result.rules) {
    const rule = rules.find(({ name }) => name === test.name);
    const limit = rule === undefined ? '' : `; ${limitWords(rule.limit)}`;
    terminal.out(`${paint(terminal, 'bold', test.name)} (${test.enabled ? 'on' : 'off'}${limit})`);
    printTable(
      terminal,
      test.times.map((time) => timeRow(terminal, time)),
    );
    terminal.out(`  ${totals(test)}`);
  }
  const period = result.from === null ? '' : `, from ${utcText(result.from)} to ${utcText(result.to)}`;
  terminal.out(`${result.lines} events read${period}. Nothing was executed.`);
}

function timeRow(terminal: Terminal, time: WouldFire): string[] {
  const { at, line, event, ticket, repo, outcome, actions, problem } = time;
  const result = {
    fires: plainText(actions.join('; ')),
    limited: paint(terminal, 'dim', 'suppressed by the limit'),
    failed: paint(terminal, 'red', plainText(problem ?? 'failed')),
  }[outcome];
  return [`  ${utcText(at)}`, `event ${line}`, event, plainText(ticket ?? repo ?? '-'), result];
}

function totals({ fires, limited, failed, leftOut }: RuleTested): string {
  const rest = leftOut === 0 ? '' : `; ${leftOut} more are not listed`;
  const broken = failed === 0 ? '' : `, ${failed} times its filter took too long`;
  return `would have fired ${fires} times, suppressed by the limit ${limited} times${broken}${rest}`;
}

type Shown = Pick<RuleList['rules'][number], 'name' | 'enabled' | 'trigger' | 'actions'> & {
  fired: number | null;
  last: RuleList['rules'][number]['last'];
};

export function rulesVerbs(terminal: Terminal): CommandUnknownOpts {
  return verbGroup(
    'rules',
    {
      summary: 'List automation rules and test them against history',
      example: 'svc rules test --since 14d',
    },
    [listVerb(terminal), rulesTestVerb(terminal)],
  );
}

function listVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('list', {
    summary: 'List rules: when they fire, what they do, last fired',
    example: 'svc rules list',
    route: 'GET /api/rules',
  })
    .option('--json', 'print JSON')
    .action(async ({ json }) => {
      const rules = await knownRules(terminal);
      if (json) return printJson(terminal, { rules });
      if (rules.length === 0)
        return terminal.out('No rules are configured. How to write one: docs/guide/rules.md');
      printTable(
        terminal,
        rules.map((rule) => [
          paint(terminal, rule.enabled ? 'green' : 'dim', rule.enabled ? 'on ' : 'off'),
          plainText(rule.name),
          plainText(rule.trigger),
          plainText(rule.actions.join('; ')),
          lastText(rule, terminal.now()),
        ]),
      );
    });
}

/** From the daemon; without it, from the configuration. */
async function knownRules(terminal: Terminal): Promise<Shown[]> {
  const session = openSession(terminal);
  const daemon = await connectDaemon(session.machine);
  if (daemon) return (await daemon.get('/api/rules')).rules;
  terminal.err(
    'The daemon is not running, so it is unknown when a rule last fired. Start it: svc monitor start',
  );
  const { config } = await requireConfig(terminal, session);
  return config.svc.rules.map(({ name, enabled, when, then }) => ({
    name,
    enabled,
    trigger: whenItFires(when),
    actions: whatItDoes(then),
    fired: null,
    last: null,
  }));
}

function lastText({ fired, last }: Shown, now: Date): string {
  if (fired === null) return '';
  if (last === null) return 'has not fired';
  const about = last.ticket === null ? '' : ` for ${plainText(last.ticket)}`;
  return `fired ${fired} times, last ${ageText(last.at, now)}${about}`;
}

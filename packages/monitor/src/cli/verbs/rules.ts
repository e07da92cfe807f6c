// svc rules list | test
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { RuleList } from '@svc/client';
import { whatItDoes, whenItFires } from '@svc/core';
import { connectDaemon } from '../daemon-client.ts';
import { plainText } from '../plain-text.ts';
import { openSession, requireConfig } from '../session.ts';
import { paint, printJson, printTable, type Terminal } from '../terminal.ts';
import { ageText } from '../time-text.ts';
import { verb, verbGroup } from '../verb.ts';
import { rulesTestVerb } from './rules-test.ts';

type Shown = Pick<RuleList['rules'][number], 'name' | 'enabled' | 'fires' | 'does'> & {
  fired: number | null;
  last: RuleList['rules'][number]['last'];
};

export function rulesVerbs(terminal: Terminal): CommandUnknownOpts {
  return verbGroup(
    'rules',
    {
      summary: 'What is done when a line of a kind comes, and when it would have been',
      example: 'svc rules test --since 14d',
    },
    [listVerb(terminal), rulesTestVerb(terminal)],
  );
}

function listVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('list', {
    summary: 'Every rule: on or off, when it fires, what it does, when it fired last',
    example: 'svc rules list',
    route: 'GET /api/rules',
  })
    .option('--json', 'print JSON')
    .action(async ({ json }) => {
      const rules = await knownRules(terminal);
      if (json) return printJson(terminal, { rules });
      if (rules.length === 0) return terminal.out('There is no rule. How to write one: docs/rules.md');
      printTable(
        terminal,
        rules.map((rule) => [
          paint(terminal, rule.enabled ? 'green' : 'dim', rule.enabled ? 'on ' : 'off'),
          plainText(rule.name),
          plainText(rule.fires),
          plainText(rule.does.join('; ')),
          lastText(rule, terminal.now()),
        ]),
      );
    });
}

/** As the daemon has them; without it, as they are configured. */
async function knownRules(terminal: Terminal): Promise<Shown[]> {
  const session = openSession(terminal);
  const daemon = await connectDaemon(session.machine);
  if (daemon) return (await daemon.get('/api/rules')).rules;
  terminal.err('The daemon is not running; when a rule fired last is not known.');
  const { config } = await requireConfig(terminal, session);
  return config.svc.rules.map(({ name, enabled, when, then }) => ({
    name,
    enabled,
    fires: whenItFires(when),
    does: whatItDoes(then),
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

import { describe, expect, test } from 'vitest';
import { matchesFilter } from '../../kernel/log/event-filter.ts';
import type { EventLine } from '../../kernel/log/event-line.ts';
import { emptyBoard, foldLine } from '../board.ts';
import { isHelperTopic } from '../helper-topics.ts';
import { topics } from '../topics.ts';
import { Rule } from './config.ts';
import {
  commandEnvironment,
  firingOf,
  isMadeByRules,
  limitWords,
  plainConditions,
  whatItDoes,
  whenItFires,
} from './rules.ts';

const line: EventLine = {
  seq: 41,
  ts: '2026-01-02T03:04:05.678Z',
  id: 'line-41',
  schemaVersion: 1,
  event: 'codehost.pr.merged',
  source: 'codehost.webhook',
  via: 'live',
  host: { id: 'h', name: 'h' },
  scope: { repo: 'acme/web', pr: 7, ticket: 'ABC-1', mergeSha: 'f00' },
  detail: {},
};
const rule = (more: object = {}) =>
  Rule.parse({
    name: 'merged',
    when: { event: 'codehost.pr.*' },
    then: {
      notify: { message: '{ticket} ({repo}#{pr}) by {worker}: {event} of {rule}' },
      attention: { message: '{ticket} waits', severity: 'high', remedy: 'svc why ABC-1' },
      run: 'note',
    },
    ...more,
  });

test.each([
  [{ event: 'codehost.pr.*' }, true],
  [{ event: 'codehost.push' }, false],
  [{ event: '*', ticket: 'abc-1' }, true],
  [{ event: '*', ticket: 'ABC-2' }, false],
  [{ event: '*', repo: 'acme/web' }, true],
  [{ event: '*', repo: 'acme/api' }, false],
])('the plain conditions %j: %s', (when, expected) => {
  expect(matchesFilter(line, plainConditions(rule({ when })))).toBe(expected);
});

describe('the line for a firing', () => {
  const fact = firingOf(rule(), line);

  test('has everything that the rule asks for, and an id based on the line', () => {
    expect(fact).toMatchObject({
      event: 'workflow.rule.fired',
      deliveryId: 'rule:merged:line-41',
      scope: line.scope,
      detail: {
        rule: 'merged',
        line: 41,
        at: line.ts,
        notify: { message: 'ABC-1 (acme/web#7) by -: codehost.pr.merged of merged', severity: 'medium' },
        run: 'note',
      },
    });
    expect(topics.schemaOf('workflow.rule.fired').safeParse(fact.detail).success).toBe(true);
  });

  const fold = (more: object = {}) =>
    foldLine(emptyBoard(), { ...fact, seq: 42, ts: '2026-01-02T03:04:06.000Z', ...more });

  test('requests the effects, each under one key', () => {
    const effects = fold();
    expect(effects).toMatchObject([
      { key: '42:notify-rule:merged', kind: 'notify-rule', ticket: 'ABC-1', severity: 'medium' },
      {
        key: '42:append:rule-merged',
        draft: {
          event: 'comms.attention',
          source: 'monitor',
          scope: line.scope,
          detail: { reason: 'rule-merged', message: 'ABC-1 waits', severity: 'high', evidence: [41] },
        },
      },
      { key: '42:run-command:merged', kind: 'run-command', command: 'note', line: 41 },
    ]);
    const [, raised] = effects;
    const draft = raised?.kind === 'append' ? raised.draft : fact;
    expect(topics.schemaOf('comms.attention').safeParse(draft.detail).success).toBe(true);
  });

  test('counts only from the daemon, and no one else can report it', () => {
    expect(fold({ source: 'cli' })).toEqual([]);
    expect(fold({ detail: { ...fact.detail, line: 'x' } })).toEqual([]);
    expect(isHelperTopic('workflow.rule.fired')).toBe(false);
    expect(isHelperTopic('workflow.ticket.phase_changed')).toBe(true);
  });

  test('a rule that cannot continue needs attention', () => {
    const detail = { rule: 'merged', line: 41, problem: 'its jq filter takes too long on a line' };
    expect(
      fold({ event: 'workflow.rule.failed', detail }).map((effect) =>
        effect.kind === 'append' ? effect.draft.detail : undefined,
      ),
    ).toMatchObject([{ reason: 'rule-merged-stopped', rule: 'merged', remedy: 'svc rules test merged' }]);
  });

  test('no rule fires on lines that rules caused', () => {
    const made = foldLine(emptyBoard(), { ...fact, seq: 42, ts: line.ts }).flatMap((effect) =>
      effect.kind === 'append' ? effect.draft : [],
    );
    expect([fact, ...made].map(isMadeByRules)).toEqual([true, true]);
    expect(isMadeByRules(line)).toBe(false);
    // Another writer cannot hide a line from rules.
    expect(isMadeByRules({ ...line, detail: { rule: 'merged' } })).toBe(false);
  });
});

test('a command gets the event, the standard variables and no secret', () => {
  const inherited = { PATH: '/bin', HOME: '/home/me', SVC_WEBHOOK_SECRET: 'hush', LINEAR_API_KEY: 'hush' };
  const hostile = { ...line, scope: { ...line.scope, branch: `a\0b$(id)${'x'.repeat(9000)}` } };
  const environment = commandEnvironment(inherited, 'merged', hostile);
  expect(environment).toMatchObject({
    PATH: '/bin',
    HOME: '/home/me',
    SVC_RULE: 'merged',
    SVC_EVENT_TOPIC: 'codehost.pr.merged',
    SVC_EVENT_SEQ: '41',
    SVC_EVENT_TICKET: 'ABC-1',
    SVC_EVENT_PR: '7',
    SVC_EVENT_MERGE_SHA: 'f00',
  });
  expect(environment['SVC_EVENT_BRANCH']).toMatch(/^ab\$\(id\)x+$/);
  expect(environment['SVC_EVENT_BRANCH']).toHaveLength(4096);
  expect(JSON.stringify(environment)).not.toContain('hush');
});

test('a rule as text', () => {
  const { when, then, limit } = rule({
    when: { event: 'codehost.push', repo: 'acme/web', filter: '.scope.pr > 7' },
  });
  expect(whenItFires(when)).toBe('codehost.push of acme/web, where .scope.pr > 7');
  expect(whatItDoes(then).slice(1)).toEqual(['attention (high): {ticket} waits', 'run note']);
  expect(limitWords(limit)).toBe('at most 1 in 10m for each ticket');
});

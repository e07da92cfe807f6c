import { describe, expect, test } from 'vitest';
import { resolveConfig } from '../configure.ts';
import { Rule } from './config.ts';
import { problemsOfRules } from './rules.ts';

const rule = (more: object = {}) =>
  Rule.parse({
    name: 'merged',
    when: { event: 'codehost.pr.merged' },
    then: { notify: { message: '{ticket} is merged' } },
    ...more,
  });
const said = (...rules: Rule[]) =>
  problemsOfRules(rules, new Set(['post-note'])).map(({ message, remedy }) => `${message} ${remedy}`);

test('by default a rule is off and fires once in ten minutes', () => {
  expect(rule()).toMatchObject({
    enabled: false,
    limit: { atMost: 1, per: '10m' },
    then: { notify: { severity: 'medium' } },
  });
  expect(said(rule(), rule({ name: 'other', then: { run: 'post-note' } }))).toEqual([]);
});

describe('a rule that cannot work is rejected, with a remedy', () => {
  test.each([
    [{ when: { event: 'codehost.pr.mergd' } }, /no event .*Did you mean codehost\.pr\.merged\?/],
    [{ when: { event: 'nothing.*' } }, /no event .*svc events topics/],
    [{ when: { event: 'workflow.rule.*' } }, /which rules themselves cause.*another event/],
    [
      { when: { event: '*', filter: '.event == "codehost.pr.megred"' } },
      /filter compares with the topic codehost\.pr\.megred/,
    ],
    [{ then: { run: 'post-not' } }, /no command post-not\. Did you mean post-note\?/],
    [{ then: { run: 'zzz' } }, /no command zzz\..*svc config set svc\.commands\.zzz\.argv/],
    [{ then: { attention: { message: 'see {branche}' } } }, /unknown placeholder \{branche\}.*\{branch\}/],
  ])('%j', (more, expected) => {
    const problems = said(rule(more));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(expected);
  });

  test('two rules with one name', () => {
    expect(said(rule(), rule())).toEqual([
      'has two rules with the name merged. Give one of them another name.',
    ]);
  });
});

describe('in a configuration file', () => {
  const resolve = (svc: object, layers: 'global' | 'project' = 'global') =>
    resolveConfig(
      [{ path: '/conf/file.json', layers: [layers], reads: [layers], data: { svc }, lineOf: () => 3 }],
      {},
    );
  const given = { name: 'a', when: { event: 'codehost.push' }, then: { run: 'note' } };

  test('a command that is there', () => {
    const { config, problems } = resolve({ rules: [given], commands: { note: { argv: ['echo', 'hi'] } } });
    expect(problems).toEqual([]);
    expect(config?.svc.commands['note']).toEqual({ argv: ['echo', 'hi'], timeoutSeconds: 60 });
  });

  test.each([
    [{ rules: [given] }, 'no command note'],
    [{ rules: [given], commands: { note: { timeoutSeconds: 5 } } }, 'the command has no argv'],
    [{ rules: [{ ...given, when: {} }] }, '(0.when.event is missing)'],
    [{ rules: [{ ...given, then: {} }] }, 'expected notify, attention or run'],
    [{ rules: [{ ...given, wen: 1 }] }, '(0: unknown key "wen"; did you mean when?)'],
    [
      { rules: [{ name: 'a', wehn: given.when, then: given.then }] },
      '(0: unknown key "wehn"; did you mean when?)',
    ],
    [{ rules: [{ ...given, colour: 1 }] }, '(0: unknown key "colour")'],
    [
      { rules: [{ ...given, when: { event: 5 } }] },
      '(0.when.event: expected a text of at most 200 characters)',
    ],
    [{ rules: [{ ...given, enabled: 'yes' }] }, '(0.enabled: expected true or false)'],
    [
      { rules: [{ ...given, limit: { atMost: 'two' } }] },
      '(0.limit.atMost: expected a whole number from 1 to 1000)',
    ],
    [{ rules: [{ ...given, then: { notify: { message: 'a', severity: 'big' } } }] }, 'expected one of '],
    [{ commands: { note: { argv: 'echo $TICKET' } } }, 'expected a list: a program'],
    [{ commands: { note: { argv: ['bin/x'] } } }, 'absolute path'],
  ])('%j', (svc, expected) => {
    const { config, problems } = resolve(svc);
    expect(config).toBeUndefined();
    expect(problems.map(({ message }) => message).join('\n')).toContain(expected);
  });

  test('a committed file can contain neither rules nor commands', () => {
    const svc = { rules: [given], commands: { note: { argv: ['rm'] } } };
    const { config, problems } = resolve(svc, 'project');
    expect(problems.map(({ code }) => code)).toEqual(['wrong-file', 'wrong-file']);
    expect(config?.svc.rules).toEqual([]);
  });
});

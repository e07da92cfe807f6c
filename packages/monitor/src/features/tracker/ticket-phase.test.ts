import { describe, expect, test } from 'vitest';
import type { Config } from '../config.ts';
import { resolveConfig } from '../configure.ts';
import { phaseNamed, projectOfTicket, targetState } from './ticket-phase.ts';
import { ticketPhases } from './ticket-phases.ts';
import { ticketWritten } from './tracker-of.ts';

function configWith(tracker: object, project: object = {}): Config {
  const file = (layer: 'project' | 'secrets', data: object) => ({
    path: `/conf/${layer}.json`,
    layers: [layer],
    reads: [layer],
    data,
    lineOf: () => 1,
  });
  const { apiToken, ...inProject } = tracker as { apiToken?: string };
  const { config, problems } = resolveConfig(
    [
      file('project', { svc: { tracker: inProject, project } }),
      file('secrets', { svc: { tracker: apiToken === undefined ? {} : { apiToken, teamKey: 'ABC' } } }),
    ],
    {},
  );
  if (config === undefined) throw new Error(JSON.stringify(problems));
  return config;
}

describe('a phase is named', () => {
  test.each(ticketPhases)('by itself: %s', (phase) => {
    expect(phaseNamed(phase)).toEqual({ ok: true, phase, skill: undefined });
  });

  test.each([
    ['research-codebase', 'research'],
    ['create-plan', 'planning'],
    ['implement-plan', 'inProgress'],
    ['create-pr', 'inReview'],
    ['describe-pr', 'inReview'],
    ['merge-pr', 'done'],
  ])('by the skill %s: %s', (skill, phase) => {
    expect(phaseNamed(skill)).toEqual({ ok: true, phase, skill });
  });

  test.each([
    ['inprogress', 'inProgress'],
    ['reserch', 'research'],
    ['create-plans', 'create-plan'],
    ['merge_pr', 'merge-pr'],
  ])('and a typo gets a suggestion: %s', (slip, suggestion) => {
    expect(phaseNamed(slip)).toMatchObject({ ok: false, suggestion });
    expect(phaseNamed(slip)).toMatchObject({
      problem: expect.stringContaining(`did you mean ${suggestion}?`),
    });
  });

  test.each(['', 'shipping', 'constructor', 'triage', 'x'.repeat(100_000)])(
    'anything else is not a phase, and the phases are listed: %.20s',
    (text) => {
      const named = phaseNamed(text);
      expect(named).toMatchObject({ ok: false, suggestion: undefined });
      expect(named.ok ? '' : named.problem).toMatch(/phases are backlog, .*skills are research-codebase, /);
      expect(named.ok ? 0 : named.problem.length).toBeLessThan(400);
    },
  );
});

describe('the state of a phase', () => {
  test('null skips, with the field as the reason', () => {
    const target = targetState(configWith({ stateMap: { research: null } }), 'research');
    expect(target).toEqual({
      skip: true,
      why: expect.stringContaining('svc.tracker.stateMap.research is null'),
    });
  });

  test.each([
    ['no cache', null, undefined],
    ['an exact name', { 'In Review': 'exact', 'in review': 'other' }, 'exact'],
    ['an exact name behind another', { 'in review': 'other', 'In Review': 'exact' }, 'exact'],
    ['other capitals', { 'IN REVIEW': 'loud' }, 'loud'],
    ['another name', { Done: 'done' }, undefined],
  ])('its id comes from the cache: %s', (_, stateIds, id) => {
    expect(targetState(configWith({ stateIds }), 'inReview')).toEqual({ skip: false, name: 'In Review', id });
  });

  test('a name in the project file wins over the default', () => {
    const config = configWith({ stateMap: { done: 'Shipped' } });
    expect(targetState(config, 'done')).toMatchObject({ name: 'Shipped' });
  });
});

describe('the project of a ticket', () => {
  const abc = configWith({ teamKey: 'ABC' });
  const xyz = configWith({}, { ticketPrefix: 'XYZ' });
  const abcWithToken = configWith({ teamKey: 'ABC', apiToken: 'hush' });

  test.each([
    ['by the team key', 'ABC-1', abc],
    ['by the prefix', 'XYZ-7', xyz],
    ['in other capitals', 'xyz-7', xyz],
    ['a longer prefix is another', 'ABCD-1', undefined],
    ['no prefix', '12', undefined],
  ])('%s', (_, ticket, project) => {
    expect(projectOfTicket([configWith({}), abc, xyz], ticket)).toBe(project);
  });

  test('of two the one with a token', () => {
    expect(projectOfTicket([abc, abcWithToken], 'ABC-1')).toBe(abcWithToken);
  });
});

test.each([
  ['abc-12', 'ABC-12'],
  ['ABC-1', 'ABC-1'],
  ['ABC', undefined],
  ['A B-1', undefined],
  ['ABC-1/../x', undefined],
  ['ABC-1\n', undefined],
  [`A-${'1'.repeat(59)}`, undefined],
])('a ticket is written %j: %j', (text, ticket) => {
  expect(ticketWritten(text)).toBe(ticket);
});

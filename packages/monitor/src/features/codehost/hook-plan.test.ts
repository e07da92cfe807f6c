import { describe, expect, test } from 'vitest';
import { resolveConfig } from '../configure.ts';
import { hookEventsFor } from '../tracker/hook-events.ts';
import { type CodehostHook, hookPlan, newHookBody, updatedHookBody } from './hook-plan.ts';
import { codehostEventTypes } from './map-codehost.ts';

const channelUrl = 'https://relay.example/AbC123';
const good: CodehostHook = {
  id: 7,
  active: true,
  events: [...codehostEventTypes],
  config: { url: channelUrl, content_type: 'json', insecure_ssl: '0', secret: '********' },
};
const wish = { channelUrl, events: codehostEventTypes, secretFingerprint: 'f1', fingerprintOf: () => 'f1' };
const withConfig = (config: Partial<CodehostHook['config']>): CodehostHook => ({
  ...good,
  config: { ...good.config, ...config },
});

describe('hookPlan', () => {
  test.each<[string, CodehostHook[]]>([
    ['there is no hook', []],
    ['there are only other hooks', [withConfig({ url: 'https://relay.example/other' })]],
    ['a hook has no URL', [{ ...good, config: {} }]],
    ['a hook has our URL with more behind it', [withConfig({ url: `${channelUrl}/x` })]],
  ])('creates when %s', (_name, hooks) => {
    expect(hookPlan(hooks, wish)).toEqual({ step: 'create' });
  });

  test.each<[string, CodehostHook]>([
    ['it is as we want it', good],
    ['scheme and host are spelled in capitals', withConfig({ url: 'HTTPS://Relay.Example/AbC123' })],
    ['someone added an event', { ...good, events: [...good.events, 'release'] }],
    ['it sends everything', { ...good, events: ['*'] }],
    ['someone turned certificate verification off', withConfig({ insecure_ssl: '1' })],
  ])('keeps the hook when %s', (_name, hook) => {
    expect(hookPlan([hook], wish)).toEqual({ step: 'keep', hook });
  });

  test.each<[string, CodehostHook, string[]]>([
    ['the channel is spelled with other capitals', withConfig({ url: channelUrl.toLowerCase() }), ['url']],
    ['it is switched off', { ...good, active: false }, ['active']],
    ['an event is missing', { ...good, events: good.events.slice(1) }, ['events']],
    ['it sends forms', withConfig({ content_type: 'form' }), ['content_type']],
    [
      'it has no content type',
      { ...good, config: { url: channelUrl, secret: '********' } },
      ['content_type'],
    ],
    ['it has no secret', { ...good, config: { url: channelUrl, content_type: 'json' } }, ['secret']],
    [
      'everything is wrong',
      { id: 1, active: false, events: [], config: { url: channelUrl.toUpperCase() } },
      ['url', 'active', 'events', 'content_type', 'secret'],
    ],
  ])('fixes the hook when %s', (_name, hook, flaws) => {
    expect(hookPlan([hook], wish)).toEqual({ step: 'update', hook, flaws });
  });

  test.each([
    ['the secret was rotated', () => 'f0'],
    ['it is not known which secret it has', () => undefined],
  ])('fixes the secret when %s', (_name, fingerprintOf) => {
    expect(hookPlan([good], { ...wish, fingerprintOf })).toEqual({
      step: 'update',
      hook: good,
      flaws: ['secret'],
    });
  });

  test('of several it takes the active one with the exact URL, and creates no other', () => {
    const off = { ...good, id: 1, active: false };
    const otherCase = { ...withConfig({ url: channelUrl.toLowerCase() }), id: 2 };
    expect(hookPlan([off, otherCase, good], wish)).toEqual({ step: 'keep', hook: good });
    expect(hookPlan([off, otherCase], wish)).toMatchObject({ step: 'update', hook: { id: 2 } });
    expect(hookPlan([off], wish)).toMatchObject({ step: 'update', hook: { id: 1 } });
  });
});

test('a new hook has exactly the ten event types, JSON and our secret', () => {
  expect(newHookBody(channelUrl, 's')).toEqual({
    name: 'web',
    active: true,
    events: [
      'pull_request',
      'pull_request_review',
      'pull_request_review_thread',
      'pull_request_review_comment',
      'check_suite',
      'status',
      'push',
      'issue_comment',
      'deployment',
      'deployment_status',
    ],
    config: { url: channelUrl, content_type: 'json', insecure_ssl: '0', secret: 's' },
  });
});

test('fixing keeps events that someone added', () => {
  const hook = { ...withConfig({ insecure_ssl: 1 }), events: ['release', 'push'] };
  const body = updatedHookBody(hook, channelUrl, 's');
  expect(new Set(body.events)).toEqual(new Set(['release', ...codehostEventTypes]));
  expect(body.events).toHaveLength(11);
  expect(body.config).toEqual({ url: channelUrl, content_type: 'json', insecure_ssl: '1', secret: 's' });
  expect(updatedHookBody({ ...good, events: ['*'] }, channelUrl, 's').events).toEqual(['*']);
});

test('a hook reports issues only where they are the tickets of a project', () => {
  const file = {
    path: '/conf/project.json',
    layers: ['project' as const],
    reads: ['project' as const],
    data: { svc: { repository: { org: 'acme', name: 'web' }, tracker: { provider: 'github' } } },
    lineOf: () => 1,
  };
  const configs = [resolveConfig([file], {}).usable];
  expect(hookEventsFor(configs, 'acme/api')).toEqual(codehostEventTypes);
  const events = hookEventsFor(configs, 'ACME/web');
  expect(events).toEqual([...codehostEventTypes, 'issues', 'sub_issues', 'issue_dependencies']);
  expect(hookPlan([good], { ...wish, events })).toMatchObject({ step: 'update', flaws: ['events'] });
  expect(new Set(updatedHookBody(good, channelUrl, 's', events).events)).toEqual(new Set(events));
  expect(newHookBody(channelUrl, 's', events).events).toEqual(events);
});

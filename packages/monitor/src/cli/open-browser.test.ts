import { expect, test } from 'vitest';
import { openBrowser, openerOf } from './verbs/open.ts';

test.each([
  ['darwin', {}, 'open'],
  ['linux', { DISPLAY: ':0' }, 'xdg-open'],
  ['linux', { WAYLAND_DISPLAY: 'wayland-0' }, 'xdg-open'],
  ['linux', {}, undefined],
  ['linux', { DISPLAY: '' }, undefined],
] as const)('on %s with %j: %s', (platform, environment, command) => {
  expect(openerOf(platform, environment)).toBe(command);
});

test('a missing browser is not an error', async () => {
  const opener = openBrowser('http://127.0.0.1:9', 'linux', { DISPLAY: ':0', PATH: '/nowhere' });
  // An error without a listener would be thrown here.
  await expect.poll(() => opener?.pid).toBeUndefined();
  expect(opener?.listenerCount('error')).toBe(1);
});

import { expect, test } from 'vitest';
import { openBrowser } from './open.ts';

test('a missing browser is not an error', async () => {
  const opener = openBrowser('http://127.0.0.1:9', { DISPLAY: ':0', PATH: '/nowhere' });
  // An error without a listener would be thrown here.
  await expect.poll(() => opener?.pid).toBeUndefined();
  expect(opener?.listenerCount('error')).toBe(1);
});

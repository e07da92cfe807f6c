import { expect, test } from 'vitest';
import { environmentForGh, tokensIn } from './gh.ts';

test('the client gets its token and the network settings, and none of our secrets', () => {
  const given = environmentForGh({
    PATH: '/bin',
    HOME: '/home/kim',
    GH_TOKEN: 'gho_1',
    GH_HOST: 'host',
    https_proxy: 'http://proxy',
    SSL_CERT_FILE: '/ca',
    GH_DEBUG: 'api',
    DEBUG: '1',
    SVC_WEBHOOK_SECRET: 'secret',
    ANTHROPIC_API_KEY: 'key',
    GH_EMPTY: undefined,
  });
  expect(given).toEqual({
    PATH: '/bin',
    HOME: '/home/kim',
    GH_TOKEN: 'gho_1',
    GH_HOST: 'host',
    https_proxy: 'http://proxy',
    SSL_CERT_FILE: '/ca',
    GH_PROMPT_DISABLED: '1',
    GH_NO_UPDATE_NOTIFIER: '1',
    NO_COLOR: '1',
  });
  expect(tokensIn(given)).toEqual(['gho_1']);
});

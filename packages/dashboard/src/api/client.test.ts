import { afterEach, expect, test, vi } from 'vitest';
import { getJson, postJson } from './client.ts';

afterEach(() => vi.unstubAllGlobals());

const answering = (status: number, body: string, headers: Record<string, string> = {}) =>
  vi.stubGlobal('fetch', () => Promise.resolve(new Response(body, { status, headers })));

test('a refusal has the words of the daemon, and when to come again', async () => {
  answering(429, '{"error":"Too often.","code":"too-many-requests"}', { 'Retry-After': '7' });
  await expect(postJson('/api/summarize', {})).rejects.toMatchObject({
    status: 429,
    code: 'too-many-requests',
    message: 'Too often.',
    remedy: null,
    retryAfter: 7,
  });
});

test.each([
  ['503 without a code', 503, '{"error":"AI not configured"}', 'http-503', 'AI not configured'],
  ['what the daemon did not say', 502, '<html>', 'http-502', 'The daemon answered 502.'],
])('%s', async (_, status, body, code, message) => {
  answering(status, body, { 'Retry-After': 'soon' });
  await expect(getJson('/api/health')).rejects.toMatchObject({ status, code, message, retryAfter: null });
});

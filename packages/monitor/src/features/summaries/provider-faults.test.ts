// Every fault of every vendor, with the real SDK against a server that has them: the answer, whether it is retried, and
// that the key appears nowhere (the test's server checks that at the end).
import { boardWithRun, type ModelFault, modelsForTest, until, WAIT_MS } from '@svc/testkit';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { CANARY, type SummaryServerOptions, startSummaryServer } from './testing/summary-server.ts';

const start = async (options: Partial<SummaryServerOptions> = {}) => {
  const models = await modelsForTest(CANARY);
  const board = options.board ?? boardWithRun();
  return { models, board, ...(await startSummaryServer({ models, board, ...options })) };
};

/** Calls time out only when the test lets them. */
function holdTimeout(): () => void {
  const ends = new AbortController();
  const spy = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(ends.signal);
  onTestFinished(() => spy.mockRestore());
  return () => ends.abort(new DOMException('The time is up', 'TimeoutError'));
}

const vendors = ['provider-a', 'provider-b', 'provider-c'];

describe.each(vendors)('%s fails', (provider) => {
  const ask = { orchId: 'run-1', provider };
  const failures: [string, ModelFault, number, number][] = [
    ['a cut answer', { kind: 'cut' }, 502, 2],
    ['429', { kind: 'status', status: 429, retryAfter: '1' }, 502, 2],
    ['500', { kind: 'status', status: 500 }, 502, 2],
    ['529', { kind: 'status', status: 529 }, 502, 2],
    ['401', { kind: 'status', status: 401 }, 502, 1],
    ['400', { kind: 'status', status: 400 }, 502, 1],
    ['404', { kind: 'status', status: 404 }, 502, 1],
    ['not JSON', { kind: 'malformed' }, 502, 1],
    ['another shape', { kind: 'wrong-shape' }, 502, 1],
    ['no text', { kind: 'empty' }, 502, 1],
    ['an endless answer', { kind: 'endless' }, 502, 1],
    ['no answer', { kind: 'slow' }, 504, 1],
    ['an answer that stalls', { kind: 'stalled' }, 504, 1],
  ];
  test.each(failures)('%s', async (_, fault, status, calls) => {
    const timeIsUp = holdTimeout();
    const { summarize, models, logged } = await start();
    models.failAlways(fault);
    const asked = summarize(ask);
    if (status === 504) {
      await until(() => models.calls.length === calls);
      timeIsUp();
    }
    const answer = await asked;
    expect(answer).toMatchObject({
      status,
      body: {
        error: expect.stringContaining(provider),
        code: status === 504 ? 'provider-timed-out' : 'provider-failed',
      },
    });
    expect(models.calls).toHaveLength(calls);
    expect(logged.join('')).toContain('a model call failed');
  });

  test.each(failures.filter(([, , , calls]) => calls === 2))(
    '%s once: the second try counts',
    async (_, fault) => {
      const { summarize, models } = await start();
      models.failNext(fault);
      expect((await summarize(ask)).status).toBe(200);
      const [first, second] = models.calls;
      expect(Number(second?.at) - Number(first?.at)).toBeGreaterThan(450);
    },
  );

  test('a refused connection', async () => {
    const { summarize, models } = await start();
    await models.close();
    expect(await summarize(ask)).toMatchObject({
      status: 502,
      body: { error: `${provider} cannot be reached.`, code: 'provider-failed' },
    });
  });

  test('a redirect is not followed: the key is not sent', async () => {
    const { summarize, models } = await start();
    models.failAlways({ kind: 'redirect', to: `${models.baseUrl('gateway')}/messages` });
    expect((await summarize(ask)).status).toBe(502);
    expect(models.calls.map(({ path }) => path)).not.toContain('/gateway/v1/messages');
  });

  test('a wrong key', async () => {
    const { summarize, models } = await start({ environment: { MODEL_KEY: `${CANARY}_wrong` } });
    expect(await summarize(ask)).toMatchObject({
      status: 502,
      body: { error: `${provider} refused the key (status 401).` },
    });
    expect(models.calls).toHaveLength(0);
  });
});

test('no retry beyond the timeout', async () => {
  const { summarize, models } = await start({ timeoutMs: WAIT_MS });
  models.failAlways({ kind: 'status', status: 429, retryAfter: String(WAIT_MS / 1000) });
  expect((await summarize()).status).toBe(502);
  expect(models.calls).toHaveLength(1);
});

import { until } from '@svc/testkit';
import { expect, test } from 'vitest';
import type { EventDraft } from '../../kernel/log/event-line.ts';
import type { EventLog } from '../../kernel/log/event-log.ts';
import { readPolicyFirst } from './read-policy-first.ts';

const draftOf = (event: string, merged: boolean): EventDraft =>
  ({ event, source: 'codehost.webhook', via: 'live', scope: {}, detail: { merged } }) as EventDraft;

function inputWith(catchUp: () => Promise<void>): { input: EventLog; order: string[] } {
  const order: string[] = [];
  const log = { appendOnce: async ({ event }: EventDraft) => void order.push(event) };
  return { input: readPolicyFirst(log as unknown as EventLog, { catchUp }), order };
}

test('a merge waits for changed files, and nothing else does', async () => {
  const { input, order } = inputWith(async () => void order.push('files are read'));
  for (const [event, merged] of [
    ['codehost.pr.opened', false],
    ['codehost.pr.merged', true],
    ['codehost.pr.labeled', true],
    ['codehost.push', false],
  ] as const)
    await input.appendOnce(draftOf(event, merged));
  expect(order).toEqual([
    'codehost.pr.opened',
    'files are read',
    'codehost.pr.merged',
    'files are read',
    'codehost.pr.labeled',
    'codehost.push',
  ]);
});

test('what arrives while the files are read is logged in the order of arrival', async () => {
  const looks: PromiseWithResolvers<void>[] = [];
  const { input, order } = inputWith(() => {
    const look = Promise.withResolvers<void>();
    looks.push(look);
    return look.promise;
  });
  const arrive = (event: string) => input.appendOnce(draftOf(event, false));
  const arrived = [arrive('codehost.push'), arrive('codehost.pr.merged')];
  await until(() => looks.length === 1);
  // The look has begun: this merge needs another one, and everything after it waits for that.
  arrived.push(arrive('codehost.pr.closed'), arrive('codehost.pr.merged'), arrive('codehost.pr.reopened'));
  expect(order).toEqual(['codehost.push']);
  looks[0]?.resolve();
  await until(() => looks.length === 2);
  arrived.push(arrive('codehost.pr.labeled'));
  looks[1]?.resolve();
  await Promise.all(arrived);
  expect(order).toEqual(
    ['push', 'pr.merged', 'pr.closed', 'pr.merged', 'pr.reopened', 'pr.labeled'].map(
      (name) => `codehost.${name}`,
    ),
  );
  await arrive('codehost.status.success');
  expect(looks).toHaveLength(2);
});

test('a merge is not logged when the files could not be read, and what arrived with it is', async () => {
  const { input, order } = inputWith(() => Promise.reject(new Error('no disk')));
  const merge = input.appendOnce(draftOf('codehost.pr.merged', true));
  const push = input.appendOnce(draftOf('codehost.push', false));
  await expect(merge).rejects.toThrow('no disk');
  await push;
  expect(order).toEqual(['codehost.push']);
});

import { natsForTest } from '@svc/testkit';
import { expect, test } from 'vitest';
import { demandVersion, openConnection, serverWarnings } from './connection.ts';

test.each(['2.14.6', '2.14.10', '2.15.0', '2.15.1-preview.1', '3.0.0'])('%s is new enough', (version) => {
  expect(() => demandVersion(version)).not.toThrow();
});

test.each(['2.14.5', '2.9.10', '2.11.3', '1.99.99', '', 'next', undefined])(
  '%s is refused, with the reasons',
  (version) => {
    expect(() => demandVersion(version)).toThrow(/2\.14\.6.*#8475.*#8312.*#8265/);
  },
);

test('a single server that is new enough gets no warning, whether or not the login may ask', async () => {
  const { url } = await natsForTest();
  const connection = await openConnection({ servers: [url] }, 'test');
  expect(await serverWarnings(connection.nats)).toEqual([]);
  await connection.close();
});

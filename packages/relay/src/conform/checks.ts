// What several rows of the conformance kit send and check.
import { randomUUID } from 'node:crypto';
import { deliveryHeaders, isTaken, type Kit, parsed, textIn } from './kit.ts';
import { type Answer, check, type Frame, type Outgoing, type Reader } from './wire.ts';

export const MIB = 1024 * 1024;
export const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

export function jsonDelivery(body: object): Outgoing {
  return {
    headers: { ...deliveryHeaders(), 'X-Mixed-Case': 'Kept' },
    body: Buffer.from(JSON.stringify(body)),
  };
}

/** The frame of one delivery, as a reader without `raw=1` gets it. */
export async function frameOf(kit: Kit, outgoing: Outgoing & { query?: string }): Promise<Frame> {
  const channel = await kit.channel('main');
  const reader = await kit.listen(channel);
  const mark = randomUUID();
  const headers = { 'x-conform': mark, ...outgoing.headers };
  const answer = await kit.send(`${channel.url}${outgoing.query ?? ''}`, { ...outgoing, headers });
  check(isTaken(answer), `the delivery was answered ${answer.status || answer.body}`);
  const frame = await reader.until(
    (frames) => frames.find(({ data }) => data.includes(mark)),
    'the delivery',
  );
  reader.close();
  return frame;
}

export async function layoutOf(
  kit: Kit,
  outgoing: Outgoing & { query?: string },
): Promise<Record<string, unknown>> {
  const layout = parsed((await frameOf(kit, outgoing)).data);
  check(isObject(layout), 'the data of a delivery is not a JSON object');
  return layout;
}

export function deliveriesIn(reader: Reader): Frame[] {
  return reader.frames.filter(({ event }) => event === undefined);
}

export function checkNumbers(got: readonly number[], expected: readonly number[], where = ''): void {
  if (got.join() === expected.join()) return;
  const lost = expected.filter((number) => !got.includes(number)).length;
  const strange = got.filter((number) => !expected.includes(number)).length;
  const repeated = got.length - new Set(got).size;
  const faults = [
    lost > 0 && `${lost} of ${expected.length} lost`,
    strange > 0 && `${strange} too many`,
    repeated > 0 && `${repeated} came twice`,
  ].filter((part) => part !== false);
  check(false, `${where} ${faults.length === 0 ? 'out of order' : faults.join(', ')}`.trim());
}

export function checkCode({ status, body }: Answer, expected: number, code: string): void {
  check(status === expected, `answered ${status || body} instead of ${expected}`);
  check(textIn(parsed(body), 'code') === code, `the ${status} has not the code ${code}`);
}

export function checkRefused({ status, body }: Answer, what: string): void {
  check(status >= 400 && status < 500, `${what} was answered ${status || body}`);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

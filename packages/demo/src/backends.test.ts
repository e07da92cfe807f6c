import { trackerShapes } from 'svc-monitor/src/features/tracker/api-answer.ts';
import { expect, it, onTestFinished, test } from 'vitest';
import { startDemoBackends } from './backends.ts';
import { DAY_ENDS, openDay, readRecords } from './day.ts';
import { startScriptedTracker } from './tracker.ts';

const records = readRecords('day.jsonl');
const dayNow = () => openDay({ records, now: new Date(Date.now() - 1_000), nowIs: DAY_ENDS, pid: 4242 });

/** The last cost that each agent reported. */
const reported = new Map(
  records.flatMap((record) =>
    record.kind === 'signal' && record.patch.cost
      ? [[`${record.orchestrator}/${record.ticket}`, record.patch.cost] as const]
      : [],
  ),
);
const total = (read: (cost: { usd?: unknown; inputTokens?: unknown }) => unknown) =>
  [...reported.values()].reduce((sum, cost) => sum + Number(read(cost)), 0);

type Matrix = { data: { result: { metric: object; values: [number, string][] }[] } };

async function sumsOf(query: string, start: string, step: string): Promise<[object, number][]> {
  const { metricsUrl, close } = await startDemoBackends(dayNow());
  onTestFinished(close);
  const asked = new URLSearchParams({ query, start, end: `${Date.now() / 1_000}`, step });
  const response = await fetch(`${metricsUrl}/api/v1/query_range?${asked.toString()}`);
  const { data } = (await response.json()) as Matrix;
  return data.result.map(({ metric, values }) => [
    metric,
    values.reduce((sum, [, amount]) => sum + Number(amount), 0),
  ]);
}
const daysAgo = (days: number): string => `${Date.now() / 1_000 - days * 86_400}`;

test.each(['5m', '3h'])('the metrics sum to what the agents reported, in steps of %s', async (step) => {
  const [cost] = await sumsOf('sum(increase(claude_code_cost_usage_USD_total[x]))', daysAgo(7), step);
  expect(cost?.[1]).toBeCloseTo(
    total(({ usd }) => usd),
    1,
  );
  const tokens = await sumsOf(
    'sum by (type) (increase(claude_code_token_usage_tokens_total[x]))',
    daysAgo(7),
    step,
  );
  expect(tokens.map(([metric]) => metric)).toEqual([{ type: 'input' }, { type: 'output' }]);
  expect(tokens[0]?.[1]).toBe(total(({ inputTokens }) => inputTokens));
});

it('counts only what is in the range', async () => {
  const sumSince = async (days: number) => (await sumsOf('cost_usage', daysAgo(days), '30m'))[0]?.[1] ?? 0;
  const [week, day] = [await sumSince(7), await sumSince(1)];
  expect(day).toBeGreaterThan(0);
  expect(day).toBeLessThan(week);
});

async function ask(name: string, variables: object) {
  const tracker = await startScriptedTracker(openDay({ records, now: new Date(), nowIs: 60, pid: 4242 }));
  onTestFinished(tracker.close);
  const send = async (query: string, given: object): Promise<{ data: unknown }> =>
    (
      await fetch(tracker.url, { method: 'POST', body: JSON.stringify({ query, variables: given }) })
    ).json() as never;
  return { tracker, send, ...(await send(`query ${name}`, variables)) };
}

it('has a tracker that knows each ticket and its state, and has no news', async () => {
  const { data, send, tracker } = await ask('IssueText', { id: 'TID-140' });
  expect(data).toMatchObject({
    issue: { state: { name: 'Todo' }, description: expect.stringMatching(/\w/) },
  });
  expect(await send('query IssuesUpdatedSince', {})).toMatchObject({ data: { issues: { nodes: [] } } });
  expect(await send('query IssueBlockers', { team: 'TID', numbers: [140, 999] })).toMatchObject({
    data: { issues: { nodes: [{ identifier: 'TID-140' }] } },
  });
  expect(await send('query IssueState', { id: 'TID-999' })).toMatchObject({ data: null });
  const moved = await send('mutation SetIssueState', { id: 'issue-TID-140', stateId: 'state-done' });
  expect(trackerShapes.SetIssueState.safeParse(moved.data).error).toBeUndefined();
  const stateOf = (name: string) => ({ data: { issue: { state: { name } } } });
  expect(await send('query IssueState', { id: 'TID-140' })).toMatchObject(stateOf('Done'));
  const delivered = records.find(
    (record) => record.kind === 'tracker' && record.at > 60 && record.type === 'Issue',
  );
  if (delivered?.kind !== 'tracker') throw new Error('the day has no change of a ticket');
  tracker.saw('Issue', delivered.payload);
  const { identifier, state } = delivered.payload['data'] as { identifier: string; state: { name: string } };
  expect(await send('query IssueState', { id: identifier })).toMatchObject(stateOf(state.name));
});

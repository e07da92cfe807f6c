// The end of workers and of runs, through the real daemon and the CLI, with real git and a scripted agent: the
// findings are filed or kept, the summary is written, and the sweep copies it.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type FakeTracker,
  modelsForTest,
  temporaryFolder,
  testTerminal,
  testTracker,
  until,
  untilHolds,
} from '@svc/testkit';
import { expect, test } from 'vitest';
import { runCommandLine } from '../src/cli/run.ts';
import { testRepository } from '../src/features/worktrees/testing/repository.ts';
import { startInProcess } from './in-process-daemon.ts';

const TOKEN = 'lin_api_e2e';
const finding = { ts: '2026-01-02T03:04:05.678Z', title: 'Slow tests of %s', body: 'Ten minutes.' };

/** Notes a finding as a skill does, reports its cost, and ends or stays. */
const AGENT = `mkdir -p .svc/findings
printf '${JSON.stringify(finding)}\\n' "$SVC_TICKET" >> .svc/findings/current.jsonl
printf '%s\\n' '{"type":"result","subtype":"success","is_error":false,"total_cost_usd":0.42,"usage":{"input_tokens":10,"output_tokens":5}}'
touch "$HOME/noted-$SVC_TICKET"
while [ -e "$HOME/stay" ]; do sleep 0.1; done
`;

type Given = {
  autoFile?: boolean;
  consentFor?: string[];
  ai?: object;
  stay?: boolean;
  global?: object;
  secrets?: object;
  environment?: object;
};

async function world(given: Given = {}) {
  const tracker = await testTracker(TOKEN);
  const team = tracker.cloud.addTeam({ key: 'ABC' });
  for (const title of ['One', 'Two', 'Three']) tracker.cloud.addIssue({ teamId: team.id, title });
  const root = temporaryFolder();
  const repository = testRepository(root);
  const { home, folder, base, write, commit, git } = repository;
  const environment = {
    ...repository.environment,
    SVC_TRACKER_API_URL: tracker.url,
    ...given.environment,
  };
  write(home, 'agent.sh', AGENT);
  if (given.stay === true) write(home, 'stay', '');
  const config = {
    projectKey: 'demo',
    project: { ticketPrefix: 'ABC' },
    tracker: { teamKey: 'ABC' },
    feedback: { autoFile: given.autoFile ?? true },
    worktree: { setup: [] },
    orchestration: { agent: ['/bin/sh', join(home, 'agent.sh'), '${PROMPT}'] },
    ...(given.ai && { ai: given.ai }),
  };
  commit(folder, '.svc/config.json', JSON.stringify({ svc: config }));
  git(folder, 'push', '-q');
  write(
    home,
    '.config/svc/config.json',
    JSON.stringify({
      svc: {
        projects: [folder],
        feedback: { consentFor: given.consentFor ?? ['tracker:ABC', 'codehost:svc-dev/svc'] },
      },
      ...given.global,
    }),
  );
  mkdirSync(join(home, '.config/svc'), { recursive: true });
  const secrets = { tracker: { apiToken: TOKEN, teamKey: 'ABC' }, ...given.secrets };
  writeFileSync(join(home, '.config/svc/config-demo.json'), JSON.stringify({ svc: secrets }), {
    mode: 0o600,
  });
  const start = () => startInProcess({ home, environment });
  const daemon = await start();
  const at = (where: string) => {
    const terminal = { ...testTerminal(), home, folder: where, environment };
    return { ...terminal, svc: (...words: string[]) => runCommandLine(terminal, words) };
  };
  const svc = (...words: string[]) => at(folder).svc(...words);
  const queue = join(base, 'ABC-1/.svc/findings/current.jsonl');
  const attention = async () => {
    const { body } = await daemon.get('/api/attention');
    return (body['open'] as { reason: string; ticket: string; message: string; remedy: string }[]).filter(
      ({ reason }) => reason === 'findings-waiting',
    );
  };
  return {
    ...repository,
    tracker,
    daemon,
    start,
    at,
    svc,
    queue,
    attention,
    summary: join(home, 'svc/runs/run-1/summary.md'),
    begin: async (...tickets: string[]) => {
      const person = at(folder);
      const code = await person.svc('orchestrate', 'start', ...tickets, '--name', 'run-1');
      expect(code, person.complained()).toBe(0);
      for (const ticket of tickets) await until(() => existsSync(join(home, `noted-${ticket}`)));
    },
  };
}

/** The titles of what was filed. */
const titles = ({ cloud }: FakeTracker): string[] =>
  cloud.issues.map(({ title }) => title).filter((title) => !isTicket(title));
const isTicket = (title: string): boolean => ['One', 'Two', 'Three'].includes(title);

test('at the end of a worker its findings are filed, and the log has their owner', async () => {
  const { begin, tracker, queue, daemon, svc } = await world();
  await begin('ABC-1');
  await untilHolds(() => {
    expect(titles(tracker)).toEqual(['Slow tests of ABC-1']);
    expect(existsSync(queue)).toBe(false);
  });
  await untilHolds(() => {
    const logged = daemon.lines().filter(({ event }) => event.startsWith('feedback.'));
    expect(logged).toMatchObject([
      {
        event: 'feedback.finding_filed',
        source: 'orchestrator',
        scope: { orchestrator: 'run-1', ticket: 'ABC-1' },
        detail: { title: 'Slow tests of ABC-1', destination: 'tracker', filedAs: 'ABC-4' },
      },
      { event: 'feedback.drained', detail: { filed: 1, failed: 0 } },
    ]);
  });
  expect(await svc('orchestrate', 'cancel', 'run-1')).toBe(0);
});

test('without consent nothing is filed, the queue and its worktree stay, and a person is notified until it is done', async () => {
  const { begin, tracker, queue, svc, attention, base, at, folder, summary, daemon } = await world({
    autoFile: false,
  });
  await begin('ABC-1');
  const [item] = await until(async () => {
    const open = await attention();
    return open.length > 0 ? open : undefined;
  });
  expect(item).toMatchObject({
    ticket: 'ABC-1',
    message: '1 finding of ABC-1 is not filed: no one has agreed to file them (svc.feedback.autoFile)',
    remedy: `cd ${join(base, 'ABC-1')} && svc findings drain`,
  });
  // The ticket is canceled, so its wave and its run are complete.
  expect(await svc('orchestrate', 'cancel', 'run-1', 'ABC-1')).toBe(0);
  await until(() => existsSync(summary));
  // At the end of the wave and at the end of the run.
  await until(() => daemon.printed().split('a worktree was kept').length === 3);
  expect(readFileSync(queue, 'utf8')).toContain('Slow tests');
  expect(titles(tracker)).toEqual([]);

  const person = at(folder);
  expect(await person.svc('worktree', 'remove', 'ABC-1')).toBe(1);
  expect(person.complained()).toContain('1 unfiled finding:\n  Slow tests of ABC-1');
  expect(readFileSync(summary, 'utf8')).toContain('- ABC-1: findings-waiting: 1 finding of ABC-1');
  expect(await at(join(base, 'ABC-1')).svc('findings', 'drain', '--yes')).toBe(0);
  expect(titles(tracker)).toEqual(['Slow tests of ABC-1']);
  await until(async () => (await attention()).length === 0);
  const again = at(folder);
  expect(await again.svc('worktree', 'remove', 'ABC-1'), again.complained()).toBe(0);
});

test('at the end of a completed run, findings are filed before the worktree is removed', async () => {
  const { begin, tracker, svc, base, summary } = await world({ stay: true });
  await begin('ABC-1');
  expect(await svc('orchestrate', 'cancel', 'run-1', 'ABC-1')).toBe(0);
  await until(() => existsSync(summary) && !existsSync(join(base, 'ABC-1')));
  expect(titles(tracker)).toEqual(['Slow tests of ABC-1']);
});

test('at the end of a canceled run too; its worktrees stay', async () => {
  const { begin, tracker, svc, base, queue, summary } = await world({ stay: true });
  await begin('ABC-1', 'ABC-2');
  expect(await svc('orchestrate', 'cancel', 'run-1')).toBe(0);
  await until(() => existsSync(summary));
  expect(titles(tracker)).toEqual(['Slow tests of ABC-1', 'Slow tests of ABC-2']);
  expect(existsSync(queue)).toBe(false);
  expect(existsSync(join(base, 'ABC-1'))).toBe(true);
});

test('what a killed daemon left undone, the next one does', async () => {
  const { begin, tracker, svc, daemon, start, queue, home, summary } = await world({ stay: true });
  await begin('ABC-1');
  tracker.failNext({ kind: 'unauthorised' }, { times: 99 });
  expect(await svc('orchestrate', 'cancel', 'run-1')).toBe(0);
  await daemon.close();
  tracker.restore();
  rmSync(summary, { force: true });
  rmSync(join(home, 'stay'), { force: true });
  await start();
  await until(() => existsSync(summary));
  expect(titles(tracker)).toEqual(['Slow tests of ABC-1']);
  expect(existsSync(queue)).toBe(false);
});

test('the summary has the facts of each ticket and unknown for unknown values; the sweep copies it', async () => {
  const { begin, svc, summary, folder, at } = await world({
    stay: true,
    global: { archive: { syncToThoughts: true } },
  });
  await begin('ABC-1');
  expect(await svc('orchestrate', 'cancel', 'run-1')).toBe(0);
  await until(() => existsSync(summary));
  const text = readFileSync(summary, 'utf8');
  expect(text).toMatch(/^# Run run-1: canceled\n/);
  expect(text).toContain(`- Project: ${folder}\n`);
  expect(text).toMatch(/- Ended: \d{4}-\d\d-\d\dT/);
  expect(text).toContain('- Tickets: 1 (1 canceled)\n');
  expect(text).toContain('- Cost: $0.42\n');
  expect(text).toMatch(
    /### ABC-1\n\n- Wave: 1\n- Status: canceled since .*\n- Shipped: no\n- Pull request: unknown\n/,
  );
  expect(text).not.toContain('## Summary');
  const terminal = at(folder);
  expect(await terminal.svc('archive', 'sweep', 'run-1'), terminal.complained()).toBe(0);
  const handoffs = join(folder, 'thoughts/shared/handoffs');
  expect(readdirSync(handoffs)).toEqual([expect.stringMatching(/^\d{4}-\d\d-\d\d-run-1-summary\.md$/)]);
  expect(readFileSync(join(handoffs, readdirSync(handoffs)[0] ?? ''), 'utf8')).toBe(text);
});

test.each([
  ['its text', undefined, 'All tickets were taken out.\n'],
  ['why there is none', { kind: 'status', status: 400 }, 'The model returned no text: provider-a'],
] as const)('with AI on a model is asked at the end of a run: %s', async (_, fault, words) => {
  const models = await modelsForTest('hush');
  models.says('All tickets were taken out.', { input: 5, output: 5 });
  if (fault !== undefined) models.failAlways(fault);
  const ai = { enabled: true, providers: { 'provider-a': { apiKeyEnv: 'MODEL_KEY' } } };
  const secrets = { ai: { providers: { 'provider-a': { baseUrl: models.baseUrl('provider-a') } } } };
  const given = { stay: true, ai, secrets, environment: { MODEL_KEY: 'hush' } };
  const { begin, svc, summary } = await world(given);
  await begin('ABC-1');
  expect(await svc('orchestrate', 'cancel', 'run-1')).toBe(0);
  await until(() => existsSync(summary));
  expect(readFileSync(summary, 'utf8')).toContain(`## Summary\n\n${words}`);
  expect(models.calls.length).toBeGreaterThan(0);
});

// The skills and the workflow in examples/, as shipped: run as processes, against a daemon with real
// deliveries. The code host is queried with its own client, against its fake.
import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  ghEnvironment,
  startFakeCodehost,
  startPublicRelay,
  storyHeadSha,
  storyMergeSha,
  storyPullRequest,
  storyRepo,
  storyTicket,
  svcProgram,
  temporaryFolder,
  until,
  WAIT_MS,
} from '@svc/testkit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import type { EventLine } from '../src/kernel/log/event-line.ts';
import { processEnvironment, storyDaemon } from './story-daemon.ts';
import { waitersOf } from './waiters.ts';

const examples = join(import.meta.dirname, '../../../examples');
const skills = join(examples, 'skills');
/** For a wait whose event comes. */
const LONG_S = String(Math.ceil(WAIT_MS / 1000));

type Ended = { code: number; printed: string; complained: string };

/** Runs a script in its own worktree, with `svc` on its path. */
function runner(home: string, more: Record<string, string> = {}) {
  const bin = join(home, 'bin');
  const worktree = join(home, 'worktree');
  mkdirSync(bin, { recursive: true });
  mkdirSync(worktree, { recursive: true });
  execFileSync('git', ['init', '-q', worktree]);
  writeFileSync(join(bin, 'svc'), `#!/bin/sh\nexec '${process.execPath}' '${svcProgram}' "$@"\n`);
  chmodSync(join(bin, 'svc'), 0o755);
  const environment = processEnvironment(home, more);
  const env = { ...environment, PATH: `${bin}:${environment['PATH']}` };
  const run = (script: string, ...words: string[]): Promise<Ended> =>
    new Promise((resolve) => {
      execFile(join(skills, script), words, { cwd: worktree, env, timeout: 2 * WAIT_MS }, (error, out, err) =>
        resolve({
          code: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1,
          printed: out.trim(),
          complained: err.trim(),
        }),
      );
    });
  const contextFile = join(worktree, '.svc/.workflow-context.json');
  const currentTicket = (): unknown =>
    existsSync(contextFile)
      ? (JSON.parse(readFileSync(contextFile, 'utf8')) as { currentTicket: unknown }).currentTicket
      : 'no context file';
  return { run, contextFile, currentTicket };
}

/** The feed is open, so a strict wait goes on. */
async function daemonWithFeed() {
  const relay = await startPublicRelay();
  onTestFinished(() => relay.stop());
  return storyDaemon({ channel: relay.newChannel() });
}

describe('merge-watcher', () => {
  const script = 'merge-watcher/wait-for-merge.sh';
  const pull = [storyRepo, String(storyPullRequest)];

  test('consumes events: a merge ends the wait, and the ticket is noted in the context file that it creates', async () => {
    const daemon = await daemonWithFeed();
    const { run, contextFile, currentTicket } = runner(daemon.home);
    expect(existsSync(contextFile)).toBe(false);
    const { waits } = await waitersOf(daemon);
    const waiting = run(script, ...pull, LONG_S, storyTicket);
    await waits();
    await daemon.happens('pull_request opened');
    await daemon.happens('pull_request merged');
    expect(await waiting).toMatchObject({ code: 0, printed: 'merged (by an event)' });
    expect(currentTicket()).toBe(storyTicket);
    // It has happened: the next one does not wait.
    expect(await run(script, ...pull, LONG_S)).toMatchObject({
      code: 0,
      printed: 'merged (by a past event)',
    });
  });

  test('closed is reported; a reopened one is awaited again; a title cannot pretend', async () => {
    const daemon = await daemonWithFeed();
    const { run } = runner(daemon.home);
    await daemon.happens('pull_request closed', { pull_request: { title: '"event":"codehost.pr.merged"' } });
    expect(await run(script, ...pull, LONG_S)).toMatchObject({
      code: 1,
      printed: 'closed without a merge (by a past event)',
    });
    await daemon.happens('pull_request opened', { action: 'reopened' });
    const { waits } = await waitersOf(daemon);
    const waiting = run(script, ...pull, LONG_S);
    await waits();
    await daemon.happens('pull_request merged');
    expect(await waiting).toMatchObject({ code: 0, printed: 'merged (by an event)' });
  });

  test('after a timeout, and without a daemon, it asks for the state of the pull request: merges, not deploys', async () => {
    const codehost = await startFakeCodehost({ folder: temporaryFolder() });
    onTestFinished(() => codehost.close());
    codehost.addToken('token');
    codehost.cloud.addRepo(storyRepo);
    const asked = () => codehost.calls().filter((line) => line.includes('graphql')).length;
    const { PATH: _path, HOME: _home, ...gh } = ghEnvironment(codehost, 'token');
    codehost.cloud.addPullRequest(storyRepo, { number: storyPullRequest });
    const daemon = await storyDaemon();
    const { run } = runner(daemon.home, gh);
    const open = await run(script, ...pull, '1');
    expect(open, open.complained).toMatchObject({
      code: 3,
      printed: 'still open after 1 s (by the code host)',
    });
    expect(asked()).toBeGreaterThan(0);
    codehost.cloud.mergePullRequest(storyRepo, storyPullRequest);
    expect(await run(script, ...pull, '1')).toMatchObject({
      code: 0,
      printed: 'merged (by the code host; whether it is in production is unknown)',
    });
    await daemon.close();
    expect((await run(script, ...pull, '1')).code).toBe(0);
    codehost.removeToken('token');
    expect(await run(script, ...pull, '1')).toMatchObject({
      code: 3,
      printed: expect.stringContaining('the code host did not answer'),
    });
  });

  test('wrong arguments are a usage error', async () => {
    const wrong = [[], ['acme', '1'], ['acme/web', 'x'], ['acme/web', '1', 'soon'], ['acme/$(x)', '1']];
    const { run } = runner(temporaryFolder());
    const ended = await Promise.all(wrong.map((words) => run(script, ...words)));
    for (const [index, one] of ended.entries())
      expect(one, JSON.stringify(wrong[index])).toMatchObject({ code: 2, printed: '' });
  });
});

describe('deploy-watcher', () => {
  const script = 'deploy-watcher/watch-deploy.mjs';
  const settings = { deploy: { [storyRepo]: { skipDeployVerification: false } } };

  async function merged() {
    const daemon = await storyDaemon({ settings });
    daemon.setStatus('pr-created');
    await daemon.happens('pull_request merged');
    const status = async () =>
      ((await daemon.get('/api/board')).body['workers'] as { status: string }[])[0]?.status;
    await until(async () => (await status()) === 'merged');
    return { daemon, ...runner(daemon.home) };
  }

  test('consumes events: a success of the merge in production is shipped, one elsewhere is not', async () => {
    const { daemon, run, currentTicket } = await merged();
    const { waits } = await waitersOf(daemon);
    const waiting = run(script, storyTicket, '--timeout', LONG_S);
    await waits();
    await daemon.happens('deployment_status success', {
      deployment: { id: 1, environment: 'staging' },
      deployment_status: { environment: 'staging' },
    });
    await daemon.happens('deployment created');
    await daemon.happens('deployment_status success');
    const { code, printed } = await waiting;
    expect(JSON.parse(printed)).toMatchObject({
      outcome: 'shipped',
      ticket: storyTicket,
      mergeSha: storyMergeSha,
    });
    expect(code).toBe(0);
    expect(currentTicket()).toBe(storyTicket);
  });

  test('a failure is reported with the log of the deployment', async () => {
    const { daemon, run } = await merged();
    const { waits } = await waitersOf(daemon);
    const waiting = run(script, storyTicket, '--timeout', LONG_S);
    await waits();
    await daemon.happens('deployment created');
    await daemon.happens('deployment_status failure');
    const { code, printed } = await waiting;
    expect(JSON.parse(printed)).toMatchObject({
      outcome: 'failed',
      detail: 'https://ci.example.test/runs/1',
    });
    expect(code).toBe(1);
  });

  test('a merge without a deployment does not count as one; an unknown ticket and no daemon are reported', async () => {
    const { daemon, run } = await merged();
    const [{ code, printed }, unknown] = await Promise.all([
      run(script, storyTicket, '--timeout', '1'),
      run(script, 'ENG-999', '--timeout', '1'),
    ]);
    expect([code, (JSON.parse(printed) as { outcome: string }).outcome]).toEqual([3, 'not-known']);
    expect(unknown.code).toBe(2);
    await daemon.close();
    const [down, none] = await Promise.all([
      run(script, storyTicket, '--timeout', '1'),
      run(script, 'not a ticket'),
    ]);
    expect(down).toMatchObject({ code: 2, printed: expect.stringContaining('The daemon is not running') });
    expect(none.code).toBe(2);
  });
});

describe('orchestrate-watcher', () => {
  const script = 'orchestrate-watcher/watch.mjs';
  const pull = [storyRepo, String(storyPullRequest)];
  const nextHead = { pull_request: { head: { sha: 'e'.repeat(40) } }, action: 'synchronize' };
  const onHead = (sha: string) => ({ check_suite: { head_sha: sha } });

  async function watched() {
    const daemon = await storyDaemon();
    const { run, currentTicket } = runner(daemon.home);
    const watch = async (...words: string[]) => {
      const { code, printed, complained } = await run(script, ...pull, ...words);
      expect(printed, complained).not.toBe('');
      return { code, ...(JSON.parse(printed) as { action: string; why: string; seq: number }) };
    };
    // The script's decision, without the script around it.
    const { classify } = (await import(join(skills, 'orchestrate-watcher/classify.mjs'))) as {
      classify: (events: readonly EventLine[]) => { action: string };
    };
    return { daemon, run, watch, currentTicket, action: () => classify(daemon.lines()).action };
  }

  test('consumes events: waits, and prints what to do as soon as there is something', async () => {
    const { daemon, watch, currentTicket } = await watched();
    await daemon.happens('pull_request opened');
    const { waits } = await waitersOf(daemon);
    const waiting = watch('--timeout', LONG_S, '--ticket', storyTicket);
    await waits();
    await daemon.happens('check_suite failure');
    expect(await waiting).toMatchObject({ code: 0, action: 'fix-checks', headSha: storyHeadSha });
    expect(currentTicket()).toBe(storyTicket);
  });

  test('the classifier: each action from the deliveries that call for it', async () => {
    const { daemon, watch, action } = await watched();
    await daemon.happens('pull_request opened');
    expect(await watch('--timeout', '0.1')).toMatchObject({ code: 3, action: 'wait' });
    await daemon.happens('status failure');
    // A commit status names no pull request: it is found by its commit.
    expect(await watch('--timeout', '0.1')).toMatchObject({ code: 0, action: 'fix-checks' });
    await daemon.happens('status success');
    expect(action()).toBe('wait');
    await daemon.happens('pull_request_review changes_requested');
    expect(action()).toBe('address-review');
    await daemon.happens('pull_request_review approved');
    expect(action()).toBe('wait');
    await daemon.happens('pull_request_review changes_requested');
    // A new commit answers the findings about the previous one.
    await daemon.happens('pull_request opened', nextHead);
    expect(action()).toBe('wait');
    await daemon.happens('check_suite failure', onHead(storyHeadSha));
    expect(action(), 'a late check of the old commit').toBe('wait');
    await daemon.happens('pull_request edited', {
      pull_request: { head: { sha: 'e'.repeat(40) }, mergeable_state: 'dirty' },
    });
    expect(action()).toBe('rebase');
    await daemon.happens('check_suite action_required', onHead('e'.repeat(40)));
    expect(await watch('--timeout', '0.1')).toMatchObject({ code: 4, action: 'needs-a-person' });
    await daemon.happens('pull_request closed');
    expect(action()).toBe('needs-a-person');
    await daemon.happens('pull_request merged');
    expect(await watch('--timeout', '0.1')).toMatchObject({ code: 0, action: 'done' });
  });

  test('the same fault repeatedly needs a person', async () => {
    const { daemon, watch } = await watched();
    await daemon.happens('pull_request opened');
    for (const digit of ['1', '2', '3', '4']) {
      const sha = digit.repeat(40);
      await daemon.happens('pull_request opened', { action: 'synchronize', pull_request: { head: { sha } } });
      await daemon.happens('check_suite failure', onHead(sha));
    }
    expect(await watch('--timeout', '0.1')).toMatchObject({ code: 4, why: 'checks failed on 4 commits' });
  });

  test('wrong arguments are a usage error', async () => {
    expect((await runner(temporaryFolder()).run(script, 'acme', '1')).code).toBe(2);
  });
});

describe('as shipped', () => {
  test('every shell script is clean by shellcheck', () => {
    const scripts = globSync(join(skills, '*/*.sh'));
    expect(scripts.length).toBeGreaterThan(0);
    expect(execFileSync('shellcheck', scripts, { encoding: 'utf8' })).toBe('');
  });

  test('every skill has its name, when to use it, and existing scripts', () => {
    const texts = globSync(join(skills, '*/SKILL.md'));
    expect(texts).toHaveLength(10);
    for (const file of texts) {
      const text = readFileSync(file, 'utf8');
      const head = parse(/^---\n([^]*?)\n---\n/.exec(text)?.[1] ?? '') as Record<string, string>;
      expect(file).toContain(`/${head['name']}/`);
      expect(head['description']).toMatch(/\. Use /);
      for (const [, script = ''] of text.matchAll(/^\.\/(\S+)/gm))
        expect(existsSync(join(file, '..', script)), script).toBe(true);
      expect(text.length, 'a skill is short').toBeLessThan(3_000);
    }
  });

  test('the workflow is YAML, and its wait ends with the deployment of its commit', async () => {
    type Step = { name: string; run: string; env?: Record<string, string> };
    const workflow = parse(readFileSync(join(examples, 'ci/wait-for-deploy.yml'), 'utf8')) as {
      on: unknown;
      jobs: { wait: { steps: Step[] } };
    };
    expect(workflow.on).toEqual({ push: { branches: ['main'] } });
    const step = workflow.jobs.wait.steps.at(-1);
    // No value of the event is part of a script.
    for (const { run } of workflow.jobs.wait.steps) expect(run).not.toContain('${{');
    expect(step?.env).toMatchObject({ SHA: '${{ github.sha }}', REPO: '${{ github.repository }}' });

    const daemon = await daemonWithFeed();
    const { home } = daemon;
    runner(home);
    const env = processEnvironment(home, { REPO: storyRepo, SHA: storyMergeSha, ENVIRONMENT: 'production' });
    const wait = () =>
      new Promise<number>((resolve) => {
        const child = execFile('sh', ['-e', '-c', step?.run ?? ''], {
          cwd: home,
          env: { ...env, PATH: `${join(home, 'bin')}:${env['PATH']}` },
          timeout: 2 * WAIT_MS,
        });
        child.once('exit', (code) => resolve(code ?? -1));
      });
    await daemon.happens('deployment_status failure');
    expect(await wait()).toBe(1);
    const other = await daemonWithFeed();
    runner(other.home);
    await other.happens('deployment_status in_progress');
    await other.happens('deployment_status success');
    Object.assign(env, processEnvironment(other.home));
    expect(await wait()).toBe(0);
  });
});

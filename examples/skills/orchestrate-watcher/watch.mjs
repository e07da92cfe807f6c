#!/usr/bin/env node
// Watches a pull request until there is something to do about it, and reports what: the Phase 4 watcher.
//
//   watch.mjs <owner/name> <pull request> [--ticket <id>] [--timeout <seconds>]
//
// Prints one line of JSON: {action, why, seq, headSha}. Exit codes: 0 there is an action, or it is done; 2 usage or
// no daemon; 3 timeout, and there is nothing to do; 4 a person is needed.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { classify } from './classify.mjs';

const MOST_EVENTS = '1000';

const { repo, number, ticket, timeout } = readArguments();
const deadline = Date.now() + timeout * 1000;

// A skill that works on a ticket sets it in the workflow context of its worktree; the file is created if needed.
if (ticket !== undefined) mustWork(svc('context', 'set-ticket', ticket));

for (;;) {
  const events = eventsOfPullRequest();
  const verdict = classify(events);
  const left = Math.ceil((deadline - Date.now()) / 1000);
  if (verdict.action === 'needs-a-person') end(4, verdict);
  if (verdict.action !== 'wait') end(0, verdict);
  if (left <= 0) end(3, verdict);
  const since = events.at(-1)?.seq ?? '1m';
  mustWork(
    svc(
      'events',
      'wait-for',
      '--repo',
      repo,
      '--since',
      String(since),
      '--filter',
      ofPullRequest(verdict.headSha),
      '--timeout',
      String(left),
    ),
  );
}

/** A commit status has no pull request, only its commit. */
function ofPullRequest(headSha) {
  const named = `.scope.pr == ${number}`;
  return headSha === null ? named : `${named} or .scope.sha == ${JSON.stringify(headSha)}`;
}

function eventsOfPullRequest() {
  const named = list('--pr', String(number));
  const headSha = named.findLast(
    ({ event, scope }) => event.startsWith('codehost.pr.') && scope.sha !== undefined,
  )?.scope.sha;
  if (headSha === undefined) return named;
  const statuses = list(
    '--event',
    'codehost.status.*',
    '--filter',
    `.scope.sha == ${JSON.stringify(headSha)}`,
  );
  return [...named, ...statuses].toSorted((a, b) => a.seq - b.seq);
}

function list(...conditions) {
  // Exit code 1 means that there are none.
  const printed = mustWork(
    svc('events', 'list', '--repo', repo, '--json', '--limit', MOST_EVENTS, ...conditions),
  );
  return printed
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

function svc(...args) {
  return spawnSync('svc', args, { encoding: 'utf8', maxBuffer: 128 * 1024 * 1024 });
}

function mustWork({ status, stdout, stderr, error }) {
  if (error === undefined && (status === 0 || status === 1)) return stdout;
  process.stderr.write(`${error?.message ?? stderr.trim()}\n`);
  return process.exit(2);
}

function end(code, verdict) {
  process.stdout.write(`${JSON.stringify(verdict)}\n`);
  process.exit(code);
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { ticket: { type: 'string' }, timeout: { type: 'string', default: '600' } },
    });
    const [name = '', pull = '', ...more] = positionals;
    const seconds = Number(values.timeout);
    const isMeant = /^[\w.-]+\/[\w.-]+$/.test(name) && /^[1-9]\d{0,8}$/.test(pull) && more.length === 0;
    if (isMeant && seconds > 0)
      return { repo: name, number: Number(pull), ticket: values.ticket, timeout: seconds };
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
  }
  process.stderr.write(
    'usage: watch.mjs <owner/name> <pull request> [--ticket <id>] [--timeout <seconds>]\n',
  );
  return process.exit(2);
}

#!/usr/bin/env node
// Watches one merge until it has shipped or its deployment has failed. The daemon decides whether it shipped
// (`svc receipt`); events only trigger the next check.
//
//   watch-deploy.mjs <ticket> [--timeout <seconds>] [--environment <name>]
//
// Prints one line of JSON: {outcome, ticket, mergeSha, detail}. Exit codes: 0 shipped, 1 the deployment failed,
// 2 usage or no daemon, 3 unknown after the timeout, 4 a person is needed.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

/** A later commit that contains the merge has another SHA, so the receipt is also read again after this time. */
const SLICE_S = 60;
const NEEDS_A_PERSON = ['stalled', 'failed', 'canceled'];

const { ticket, timeout, environment } = readArguments();
const deadline = Date.now() + timeout * 1000;

// A skill that works on a ticket sets it in the workflow context of its worktree; the file is created if needed.
const set = svc('context', 'set-ticket', ticket);
if (set.code !== 0) end(2, 'usage', null, set.complaint);

// Read before the first check, so no event is lost between the check and the wait.
let since = newestLine();
for (;;) {
  const receipt = readReceipt();
  const mergeSha = linkOf(receipt, 'merge')?.value ?? null;
  if (receipt.shipped === true) end(0, 'shipped', mergeSha, linkOf(receipt, 'deployment')?.value ?? null);
  if (NEEDS_A_PERSON.includes(receipt.status))
    end(4, 'needs-a-person', mergeSha, `the status is ${receipt.status}; see: svc why ${ticket}`);
  const left = Math.ceil((deadline - Date.now()) / 1000);
  if (left <= 0)
    end(3, 'not-known', mergeSha, 'no deployment was seen in time; a merged pull request does not prove one');

  const event = waitForEvent(mergeSha, Math.min(left, SLICE_S));
  if (event === undefined) continue;
  since = String(event.seq);
  if (['codehost.deployment_status.failure', 'codehost.deployment_status.error'].includes(event.event))
    end(1, 'failed', mergeSha, event.detail.logUrl ?? event.detail.description ?? null);
}

/** What may change the result: a finished deployment of the merge, the merge itself, a status change of the worker. */
function waitForEvent(mergeSha, seconds) {
  const ends = ['success', 'failure', 'error'].map(
    (state) => `.event == "codehost.deployment_status.${state}"`,
  );
  const deployed = `(${ends.join(' or ')}) and .scope.environment == ${JSON.stringify(environment)} and .scope.sha == ${JSON.stringify(mergeSha)}`;
  const ticketChanged = `.scope.ticket == ${JSON.stringify(ticket)} and (.event | . == "orchestrator.worker.status_changed" or . == "codehost.pr.merged")`;
  const filter = mergeSha === null ? ticketChanged : `(${deployed}) or (${ticketChanged})`;
  const { code, printed, complaint } = svc(
    'events',
    'wait-for',
    '--since',
    since,
    '--filter',
    filter,
    '--timeout',
    String(seconds),
  );
  if (code === 0) return JSON.parse(printed);
  if (code === 1) return undefined;
  return end(2, 'usage', mergeSha, complaint);
}

function readReceipt() {
  const { code, printed, complaint } = svc('receipt', ticket, '--json');
  // Exit code 1 means that it has not shipped.
  if (printed !== '' && code <= 1) return JSON.parse(printed);
  return end(2, 'usage', null, complaint);
}

function newestLine() {
  const { code, printed, complaint } = svc('events', 'list', '--limit', '1', '--json');
  if (code > 1) return end(2, 'usage', null, complaint);
  return printed === '' ? '0' : String(JSON.parse(printed).seq);
}

function linkOf(receipt, name) {
  return receipt.links.find(({ link }) => link === name);
}

function svc(...args) {
  const { status, stdout, stderr, error } = spawnSync('svc', args, { encoding: 'utf8' });
  if (error !== undefined) return { code: 2, printed: '', complaint: error.message };
  return { code: status ?? 2, printed: stdout.trim(), complaint: stderr.trim() };
}

function end(code, outcome, mergeSha, detail) {
  process.stdout.write(`${JSON.stringify({ outcome, ticket, mergeSha, detail })}\n`);
  process.exit(code);
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        timeout: { type: 'string', default: '1800' },
        environment: { type: 'string', default: 'production' },
      },
    });
    const [name, ...more] = positionals;
    const seconds = Number(values.timeout);
    if (/^[A-Za-z][A-Za-z0-9]*-\d+$/.test(name ?? '') && more.length === 0 && seconds > 0)
      return { ticket: name.toUpperCase(), timeout: seconds, environment: values.environment };
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
  }
  process.stderr.write('usage: watch-deploy.mjs <ticket> [--timeout <seconds>] [--environment <name>]\n');
  return process.exit(2);
}

// `svc hook <agent> <event> <data root> [<pid>]`, as the script in the data root calls it in the background. It reads the
// event of the agent, sends what svc keeps of it to the daemon, and ends within ten seconds: the agent does not wait for it,
// and on a busy machine a report must not be lost. Nothing is printed. It runs at every event, so it loads little.
// `svc hook … <pid> answer` asks the daemon for the answer of a person instead, once, and prints it. Whatever goes wrong,
// it prints nothing, and the agent goes on asking at its terminal.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lookNow, readTextNow } from '@svc/lib/paths';
import { authorization, readHookToken, readToken } from '../../../kernel/access/token-file.ts';
import { isHeldNow } from '../../../kernel/disk/lock.ts';
import {
  ANSWER_WITHIN_MS,
  askIn,
  decisionFor,
  HOOK_ASK_PATH,
  HOOK_REPORT_PATH,
  hookedAgents,
  reportIn,
} from '../hook-event.ts';

const LONGEST_MS = 10_000;
const AGAIN_MS = 150;
/** The daemon ends the wait first. */
const LONGEST_WAIT_MS = ANSWER_WITHIN_MS + 5_000;
const PARENT_MS = 500;
const MOST_ANSWER_BYTES = 10_000;
/** The input and output of a tool are part of an event. */
const MOST_BYTES = 16 * 1024 * 1024;

const startedAt = Number(process.hrtime.bigint()) / 1e6 - performance.now();
const [, , , name, event = '', dataDir = '', pid, mode] = process.argv;
const asks = mode === 'answer';
const tooLate = setTimeout(() => process.exit(0), asks ? LONGEST_WAIT_MS : LONGEST_MS);
process.on('uncaughtException', () => process.exit(0));

const agent = hookedAgents.find((one) => one === name);
const text = await readAll();
const payload: unknown = text ? JSON.parse(text) : undefined;
const more = { at: startedAt, digest, ...(pid && { pid: Number(pid) }) };
const report = agent === undefined ? undefined : reportIn(agent, event, payload, more);
// Copilot does not name it in most events.
if (report && agent === 'copilot')
  report.transcript ??= join(copilotHome(), 'session-state', report.session, 'events.jsonl');
if (report && asks) await ask(askIn(report, payload));
else if (report) await deliver(JSON.stringify(report));
clearTimeout(tooLate);

function copilotHome(): string {
  return process.env['COPILOT_HOME'] || join(process.env['HOME'] ?? '/', '.copilot');
}

async function readAll(): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of process.stdin as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > MOST_BYTES) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function digest(input: string): string {
  return process.getBuiltinModule('node:crypto').hash('sha256', input, 'base64url');
}

/** Tried again while there is time: a daemon may be busy, and the next event may be far away. */
async function deliver(body: string): Promise<void> {
  for (;;) {
    const port = portOfDaemon();
    if (port === undefined) return;
    const { status } = await post(port, HOOK_REPORT_PATH, body);
    if (status !== undefined && status < 429) return;
    await sleep(AGAIN_MS);
  }
}

/** Not tried again: a daemon that was started meanwhile does not know whether a person has answered. */
async function ask(asked: object | undefined): Promise<void> {
  const port = portOfDaemon();
  if (asked === undefined || port === undefined) return;
  // The agent no longer wants an answer when it ends its hook, or when it has ended.
  const parent = process.ppid;
  setInterval(() => process.ppid === parent || process.exit(0), PARENT_MS).unref();
  // No other user may answer, not even while the daemon is restarted.
  const { isOurs } = await import('../../../kernel/instance/daemon-record.ts');
  if (!(await isOurs(dataDir, port, readToken(dataDir)))) return;
  const { status, text: answered } = await post(port, HOOK_ASK_PATH, JSON.stringify(asked));
  if (status !== 200) return;
  process.stdout.write(decisionFor((JSON.parse(answered) as { answer?: unknown } | null)?.answer));
}

/** Undefined while no daemon runs. The record can outlive its daemon, and another program may use the port then. */
function portOfDaemon(): number | undefined {
  const record = join(dataDir, 'daemon.json');
  if (lookNow(record).state !== 'present' || !isHeldNow(join(dataDir, 'daemon.lock'))) return undefined;
  const { port } = JSON.parse(readTextNow(record)) as { port?: unknown };
  return typeof port === 'number' ? port : undefined;
}

/** The status is undefined when there was no whole answer. */
function post(
  port: number,
  path: string,
  body: string,
): Promise<{ status?: number | undefined; text: string }> {
  const { request } = process.getBuiltinModule('node:http');
  const headers = {
    ...authorization(readToken(dataDir)),
    'X-Svc-Hook-Token': readHookToken(dataDir) ?? '',
    'Content-Type': 'application/json',
  };
  return new Promise((resolve) => {
    const none = (): void => resolve({ text: '' });
    request({ host: '127.0.0.1', port, method: 'POST', path, headers }, (response) => {
      let answered = '';
      response
        .on(
          'data',
          (part: Buffer) => (answered += part.toString().slice(0, MOST_ANSWER_BYTES - answered.length)),
        )
        .on('end', () => resolve({ status: response.statusCode, text: answered }))
        .on('error', none);
    })
      .on('error', none)
      .end(body);
  });
}

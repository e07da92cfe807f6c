// `svc hook <agent> <event> <data root> [<pid>]`, as the script in the data root calls it in the background. It reads the
// event of the agent, sends what svc keeps of it to the daemon, and ends within ten seconds: the agent does not wait for it,
// and on a busy machine a report must not be lost. Nothing is printed. It runs at every event, so it loads little.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { HOOK_REPORT_PATH, hookedAgents, reportIn } from '@svc/core/browser';
import { authorization, readHookToken, readToken } from '../access/token-file.ts';
import { isHeldNow } from '../disk/lock.ts';

const LONGEST_MS = 10_000;
const AGAIN_MS = 150;
/** The input and output of a tool are part of an event. */
const MOST_BYTES = 16 * 1024 * 1024;

const startedAt = Number(process.hrtime.bigint()) / 1e6 - performance.now();
const tooLate = setTimeout(() => process.exit(0), LONGEST_MS);
process.on('uncaughtException', () => process.exit(0));

const [, , , name, event = '', dataDir = '', pid] = process.argv;
const agent = hookedAgents.find((one) => one === name);
const text = await readAll();
const report =
  agent &&
  text &&
  reportIn(agent, event, JSON.parse(text), { at: startedAt, digest, ...(pid && { pid: Number(pid) }) });
// Copilot does not name it in most events.
if (report && agent === 'copilot')
  report.transcript ??= join(copilotHome(), 'session-state', report.session, 'events.jsonl');
if (report) await deliver(JSON.stringify(report));
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
    const status = await post(port, body);
    if (status !== undefined && status < 429) return;
    await sleep(AGAIN_MS);
  }
}

/** Undefined while no daemon runs. The record can outlive its daemon, and another program may use the port then. */
function portOfDaemon(): number | undefined {
  const record = join(dataDir, 'daemon.json');
  if (!existsSync(record) || !isHeldNow(join(dataDir, 'daemon.lock'))) return undefined;
  const { port } = JSON.parse(readFileSync(record, 'utf8')) as { port?: unknown };
  return typeof port === 'number' ? port : undefined;
}

/** The status of the answer; undefined when there was none. */
function post(port: number, body: string): Promise<number | undefined> {
  const { request } = process.getBuiltinModule('node:http');
  const headers = {
    ...authorization(readToken(dataDir)),
    'X-Svc-Hook-Token': readHookToken(dataDir) ?? '',
    'Content-Type': 'application/json',
  };
  return new Promise((resolve) => {
    request({ host: '127.0.0.1', port, method: 'POST', path: HOOK_REPORT_PATH, headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', () => resolve(undefined))
      .end(body);
  });
}

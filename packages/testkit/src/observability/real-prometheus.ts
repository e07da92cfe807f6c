// A real Prometheus, run as a plain program: a loopback port, its own data folder, one daemon to scrape. The service of
// the distribution's package is not used.
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { freePort } from '../daemon/free-port.ts';
import { createRandom } from '../random.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { WAIT_MS } from '../waiting.ts';

/** Both from Debian's package `prometheus`. */
const program = 'prometheus';
const checker = 'promtool';

export type RealPrometheus = { url: string; stop: () => Promise<void> };

/** Known before it runs, so its clients may start first. */
export function portForPrometheus(): Promise<number> {
  return freePort(createRandom(process.pid * 1_000 + (Date.now() % 1_000)));
}

/** `configuration` is the whole `prometheus.yml`. */
export async function startPrometheus({
  port,
  configuration,
}: {
  port: number;
  configuration: string;
}): Promise<RealPrometheus> {
  const folder = temporaryFolder('svc-prometheus-');
  const file = join(folder, 'prometheus.yml');
  const output = join(folder, 'output.log');
  writeFileSync(file, configuration);
  mkdirSync(join(folder, 'data'));
  const written = openSync(output, 'a');
  const child = spawn(
    program,
    [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=warn',
    ],
    { cwd: folder, env: { PATH: process.env['PATH'] }, stdio: ['ignore', written, written] },
  );
  closeSync(written);
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(`it ended with ${code ?? signal}`));
  });
  let isOver: string | undefined;
  void ended.then((how) => (isOver = how));
  const stop = async (): Promise<void> => {
    if (isOver !== undefined) return;
    child.kill('SIGTERM');
    const enough = new AbortController();
    const late = sleep(WAIT_MS, 'late', { signal: enough.signal }).catch(() => 'on time');
    if ((await Promise.race([ended, late])) === 'late') child.kill('SIGKILL');
    enough.abort();
    await ended;
  };
  onTestFinished(stop);
  const url = `http://127.0.0.1:${port}`;
  for (const deadline = performance.now() + WAIT_MS; ; await sleep(100)) {
    if (await isReady(url)) return { url, stop };
    if (isOver !== undefined || performance.now() > deadline) {
      const why = isOver ?? 'it is not ready in time';
      const said = readFileSync(output, 'utf8').split('\n').slice(-10).join('\n');
      throw new Error(`Prometheus: ${why} (needed: apt-get install prometheus)\n${said}`);
    }
  }
}

/** `promtool check …`: its complaint; null if there is none. */
export function promtoolComplaint(...words: readonly string[]): string | null {
  const { status, stdout, stderr, error } = spawnSync(checker, words, {
    encoding: 'utf8',
    timeout: WAIT_MS,
  });
  if (error !== undefined) return `${error.message} (needed: apt-get install prometheus)`;
  return status === 0 ? null : `${stdout}${stderr}`;
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/-/ready`)).ok;
  } catch {
    // It is not listening yet.
    return false;
  }
}

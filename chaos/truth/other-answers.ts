// Whether a ticket shipped, by the programs that people and agents ask: `svc why --json` and the tool `receipt` of `svc mcp`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { DaemonHome } from '../../packages/testkit/src/daemon/start-daemon.ts';

interface Reply {
  id?: number;
  result?: { structuredContent?: { shipped?: boolean | null } };
}

/** By ticket; one process answers for all. */
export async function askMcp(home: DaemonHome, names: readonly string[]): Promise<Map<string, boolean>> {
  const env = { PATH: process.env['PATH'], HOME: home.home, SVC_DATA_DIR: home.dataDir };
  const program = spawn(process.execPath, [join(home.home, 'dist/svc.js'), 'mcp'], {
    cwd: home.home,
    env,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const send = (message: object): void =>
    void program.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const said = new Map<string, boolean>();
  try {
    const clientInfo = { name: 'chaos', version: '1' };
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    send({ id: 0, method: 'initialize', params });
    for await (const line of createInterface({ input: program.stdout })) {
      const { id, result } = JSON.parse(line) as Reply;
      if (id === undefined) continue;
      const asked = names[id - 1];
      if (id === 0) send({ method: 'notifications/initialized' });
      else if (asked !== undefined) said.set(asked, result?.structuredContent?.shipped === true);
      const ticket = names[id];
      if (ticket === undefined) break;
      send({ id: id + 1, method: 'tools/call', params: { name: 'receipt', arguments: { ticket } } });
    }
    return said;
  } finally {
    const ended = once(program, 'exit');
    program.kill();
    await ended;
  }
}

// Machines of a team (a home and a daemon each) and one relay on a real nats-server.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StoredRecord } from '@svc/contract/relay/record';
import { natsForTest, relayProgram, temporaryFolder, testTerminal } from '@svc/testkit';
import { expect, onTestFinished } from 'vitest';
import { startServer } from '../../testkit/src/daemon/server-process.ts';
import { codehostSecret } from '../../testkit/src/daemon/start-daemon.ts';
import { askNats } from '../../testkit/src/nats/nats-node.ts';
import { sendCodehost } from '../../testkit/src/tape/send.ts';
import { runCommandLine } from '../src/cli/run.ts';
import type { TeamBoard } from '../src/features/team/api.ts';
import { channelOf } from '../src/features/team/io/records.ts';
import type { TeamFile } from '../src/features/team/io/team-file.ts';
import type { RecordRefusal } from '../src/features/team/roster.ts';
import { startInProcess } from './in-process-daemon.ts';

export async function relayAt(nats: string, port = 0) {
  const folder = temporaryFolder();
  const announcedIn = join(folder, 'relay.json');
  const relay = startServer({
    command: [relayProgram, 'serve', '--provision', '--port', String(port), '--port-file', announcedIn],
    environment: { HOME: folder, SVC_RELAY_NATS: nats },
    folder,
    announcedIn,
    output: join(folder, 'relay.log'),
  });
  onTestFinished(() => relay.kill());
  const announced = await relay.ready;
  return { ...relay, port: announced.port, url: `http://127.0.0.1:${announced.port}`, folder };
}

type Row = TeamBoard['machines'][number];

export async function machine(name: string, { heartbeatMs }: { heartbeatMs?: number } = {}) {
  const home = temporaryFolder();
  writeFileSync(join(home, '.gitconfig'), `[user]\n\tname = person-of-${name}\n`);
  let skew = 0;
  const secret = { SVC_WEBHOOK_SECRET: codehostSecret };
  const start = () =>
    startInProcess({ home, environment: secret, now: () => new Date(Date.now() + skew), heartbeatMs });
  let daemon = await start();
  const svc = async (...words: string[]) => {
    const environment = { HOME: home, SVC_DATA_DIR: join(home, 'svc'), USER: `user-of-${name}` };
    const terminal = {
      ...testTerminal({ environment }),
      folder: home,
      home,
      now: () => new Date(Date.now() + skew),
    };
    const exit = await runCommandLine(terminal, words);
    return { exit, text: [terminal.printed(), terminal.complained()].join('\n').trim() };
  };
  const teamBoard = async (): Promise<Row[]> => {
    const { status, body } = await daemon.get('/api/team/board');
    return status === 200 ? ((body as unknown as TeamBoard).machines ?? []) : [];
  };
  const teamStatus = async () =>
    (await daemon.get('/api/team')).body['team'] as {
      state: string;
      refused: { reason: RecordRefusal; count: number }[];
      why: string | null;
      problems: { text: string; remedy: string }[];
    };
  return {
    name,
    home,
    svc,
    daemon: () => daemon,
    async restart() {
      daemon = await start();
    },
    skipTime(milliseconds: number) {
      skew += milliseconds;
    },
    /** A worker, as its signal file reports it. */
    work(ticket: string, status: string, error?: string) {
      const folder = join(home, 'svc/runs', `run-${name}`, 'workers');
      mkdirSync(folder, { recursive: true });
      const at = new Date().toISOString();
      writeFileSync(
        join(folder, `${ticket}.json`),
        JSON.stringify({
          ticket,
          orchestrator: `run-${name}`,
          workerName: ticket,
          status,
          phase: 1,
          repo: 'acme/web',
          branch: `b-${ticket}`,
          startedAt: at,
          updatedAt: at,
          error,
        }),
      );
    },
    /** The pull request of a ticket's branch is opened: with it, its title is known here. */
    async open(ticket: string, title: string, number: number) {
      const repository = { full_name: 'acme/web' };
      const pull_request = { number, title, head: { ref: `b-${ticket}`, repo: repository } };
      const values = { action: 'opened', number, pull_request, repository };
      await sendCodehost(daemon, 'pull_request', values);
    },
    teamBoard,
    rowOf: async (other: string) => (await teamBoard()).find((row) => row.machine === other),
    status: teamStatus,
    /** How many records it has refused for this reason. */
    refusals: async (reason: RecordRefusal): Promise<number> =>
      (await teamStatus()).refused
        .filter((refused) => refused.reason === reason)
        .reduce((sum, { count }) => sum + count, 0),
    file: () => JSON.parse(readFileSync(join(home, '.config/svc/team.json'), 'utf8')) as TeamFile,
    health: async () =>
      (await daemon.get('/api/health')).body['team'] as { state: string; why?: string; remedy?: string },
  };
}

const SHARDS = 16;

/** Not through the relay, which would refuse it, but as somebody who can write to its server. */
export async function putIntoServer(port: number, team: TeamFile, record: StoredRecord): Promise<void> {
  for (let shard = 0; shard < SHARDS; shard += 1) {
    const subject = `svc-relay.record.${shard}.${channelOf(team)}.${record.path}`;
    await askNats(port, subject, JSON.stringify(record));
  }
}

export type Machine = Awaited<ReturnType<typeof machine>>;

export async function teamOfTwo() {
  const nats = await natsForTest();
  const relay = await relayAt(nats.url);
  const [one, two] = [await machine('one'), await machine('two')];
  expect(
    (await one.svc('team', 'create', '--relay', relay.url, '--name', 'web', '--machine-name', 'one')).exit,
  ).toBe(0);
  const invited = await one.svc('team', 'invite', '--json');
  const { invitation } = JSON.parse(invited.text) as { invitation: string };
  const joined = await two.svc('team', 'join', invitation, '--machine-name', 'two');
  expect(joined).toMatchObject({ exit: 0, text: expect.stringContaining('Joined web') });
  return { nats, relay, one, two, invitation };
}

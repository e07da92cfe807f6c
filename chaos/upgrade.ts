// A data folder that an earlier commit wrote, with its own code, opens with this one: every line stays, the board has
// the same, what waits in the outbox waits, the archive is intact. The new daemon is killed with -9 again and again while
// it opens the folder.
// `npm run chaos:upgrade` (100,000 lines, 50 kills) opens the folder of `--commit HEAD`; `-- --commit <commit>` of another.
// `-- --keep <folder>` keeps a small one as a fixture instead (packages/monitor/e2e/data-*); `-- --sabotage` shows that
// the check can fail.
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { freePort } from '../packages/testkit/src/daemon/free-port.ts';
import {
  createStartKiller,
  type ServerProcess,
  startServer,
} from '../packages/testkit/src/daemon/server-process.ts';
import { codehostSecret } from '../packages/testkit/src/daemon/start-daemon.ts';
import {
  createPost,
  createReport,
  exampleDeliveries,
  sendUntilAcknowledged,
} from '../packages/testkit/src/deliveries/signed-delivery.ts';
import { auditLog } from '../packages/testkit/src/log/audit-log.ts';
import { createRandom } from '../packages/testkit/src/random.ts';
import {
  askJson,
  describeMachine,
  failUnless,
  judgeSabotage,
  logLines,
  printProblems,
  scriptFolder,
  scriptOptions,
  secondsSince,
  writeInto,
} from '../packages/testkit/src/script.ts';
import { until, WAIT_MS } from '../packages/testkit/src/waiting.ts';

const options = scriptOptions({
  commit: 'HEAD',
  lines: 100_000,
  kills: 50,
  keep: '',
  seed: 1,
  'deadline-s': (15 * WAIT_MS) / 1000,
  sabotage: false,
});
const KEPT_LINES = 150;
/** The other lines are in the log before the earlier daemon starts: writing them is not what is tested. */
const MOST_DELIVERIES = 1_000;
/** Paths in a fixture start with this; the test that opens it puts its own home there. */
const KEPT_HOME = '/tmp/svc-data-fixture';
const repository = join(import.meta.dirname, '..');
const random = createRandom(options.seed);
const home = options.keep === '' ? scriptFolder('upgrade') : freshFolder(KEPT_HOME);
const dataDir = join(home, 'svc');
const eventsDir = join(dataDir, 'events');
const port = await freePort(random);
const url = `http://127.0.0.1:${port}`;
type Board = Record<string, Record<string, unknown>[]>;
type Outbox = { effects: { key: string; state: string }[] };
type Fact = [event: string, source: string, scope: object, detail: object];
type Kept = { lines: string[]; board: Board; pending: string[] };

const environment = {
  HOME: home,
  SVC_DATA_DIR: dataDir,
  SVC_MONITOR_PORT: String(port),
  SVC_WEBHOOK_SECRET: codehostSecret,
};

/** What a daemon reports about itself. */
const ownKinds = new Set(['feeds']);

console.log(describeMachine());
const earlier = checkOut(options.commit);
const before = await write(earlier);
if (options.keep === '') await open(before);
else keep(options.keep, before);
rmSync(home, { recursive: true, force: true });

function freshFolder(path: string): string {
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { mode: 0o700 });
  return path;
}

/** The files of a commit, with its own packages beside the installed ones. */
function checkOut(commit: string): string {
  const tree = scriptFolder('upgrade-code');
  const git = (...words: string[]) =>
    execFileSync('git', ['-C', repository, ...words], { maxBuffer: 2 ** 30 });
  execFileSync('tar', ['-x', '-C', tree], { input: git('archive', commit) });
  const modules = join(repository, 'node_modules');
  mkdirSync(join(tree, 'node_modules', '@svc'), { recursive: true });
  for (const name of readdirSync(modules))
    if (name !== '@svc') symlinkSync(join(modules, name), join(tree, 'node_modules', name));
  for (const name of readdirSync(join(tree, 'packages')))
    symlinkSync(join(tree, 'packages', name), join(tree, 'node_modules', '@svc', name));
  console.log(`earlier: ${git('log', '-1', '--format=%h %s', commit).toString().trim()}`);
  return tree;
}

function start(tree: string): ServerProcess {
  return startServer({
    command: ['--no-warnings', join(tree, 'packages/monitor/src/cli/start.ts'), 'monitor', 'run'],
    environment,
    folder: home,
    announcedIn: join(dataDir, 'daemon.json'),
    output: join(home, 'daemon.log'),
  });
}

function svc(tree: string, ...words: string[]): string {
  const program = join(tree, 'packages/monitor/src/cli/start.ts');
  return execFileSync(process.execPath, ['--no-warnings', program, ...words], {
    cwd: home,
    env: { PATH: process.env['PATH'], ...environment },
    encoding: 'utf8',
  });
}

/** Fills the folder with the earlier code: deliveries, helpers' events, runs with agents' files, an archive. */
async function write(tree: string): Promise<Kept> {
  const started = performance.now();
  mkdirSync(eventsDir, { recursive: true, mode: 0o700 });
  writeInto(home, '.config/svc/config.json', { svc: { notify: { minSeverity: 'low' } } });
  writeInto(home, '.svc/config.json', { svc: { projectKey: 'demo', project: { ticketPrefix: 'ENG' } } });
  for (const [path, content] of Object.entries(runFiles())) writeInto(dataDir, `runs/${path}`, content);
  const count = options.keep === '' ? options.lines : KEPT_LINES;
  const delivered = Math.min(count, MOST_DELIVERIES);
  writeInto(eventsDir, '2026-01.jsonl', linesOfAgents(count - delivered));
  const daemon = start(tree);
  await daemon.ready;
  for (const fact of helperFacts()) await askJson(`${url}/api/events`, fact);
  const post = createPost(port);
  const sends = exampleDeliveries(delivered, codehostSecret);
  const given = { sends, atOnce: 16, post: post.post, deadlineMs: options['deadline-s'] * 1000 };
  await sendUntilAcknowledged(given, createReport());
  post.close();
  svc(tree, 'archive', 'sweep', 'run-1');
  const seen = await boardAndOutbox();
  await daemon.kill();
  const lines = logLines(eventsDir);
  console.log(`${lines.length} lines written in ${secondsSince(started)} s`);
  return { ...seen, lines };
}

function signal(orchestrator: string, ticket: string, status: string): object {
  const at = '2026-01-02T03:04:05.000Z';
  const workerName = `${orchestrator}-${ticket}`;
  const about = { orchestrator, ticket, workerName, repo: 'acme/web', branch: ticket };
  return { ...about, status, phase: 1, startedAt: at, updatedAt: at, unknownField: { kept: true } };
}

function runFiles(): Record<string, object | string> {
  const output = 'run-1/workers/output/ENG-1.1';
  const setup = { cwd: '/wt/ENG-1', resume: null, mode: null, model: null, prompt: 'go', continuation: null };
  return {
    'run-1/workers/ENG-1.json': signal('run-1', 'ENG-1', 'canceled'),
    'run-1/summary.md': '# Run 1\n',
    [`${output}.agent.json`]: { agent: 'claude', reason: null, setup, delivered: [] },
    [`${output}.sent.jsonl`]:
      '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}\n',
    [`${output}.journal.jsonl`]: '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}\n',
    'run-2/workers/ENG-2.json': signal('run-2', 'ENG-2', 'implementing'),
  };
}

/** Lines that only the daemon itself writes, as it wrote them. */
function linesOfAgents(messages: number): string {
  const scope = { orchestrator: 'run-1', ticket: 'ENG-1' };
  const session = { agent: 'claude', folder: '/acme/web', known: 'hook' };
  const facts: Fact[] = [
    ['orchestrator.run.started', 'orchestrator', { orchestrator: 'run-1' }, { tickets: ['ENG-1'] }],
    [
      'orchestrator.worker.status_changed',
      'orchestrator',
      scope,
      { to: 'implementing', signal: signal('run-1', 'ENG-1', 'implementing') },
    ],
    ['agent.session.started', 'orchestrator', scope, { attempt: 1, agent: 'claude', protocol: true }],
    ['agent.turn.started', 'orchestrator', scope, { attempt: 1, turn: 1, text: 'go' }],
    ...Array.from({ length: messages + 1 }, (_, number): Fact => {
      return ['agent.message', 'orchestrator', scope, { attempt: 1, text: `Step ${number}.` }];
    }),
    ['agent.turn.ended', 'orchestrator', scope, { attempt: 1, turn: 1, ok: true }],
    ['agent.session.ended', 'orchestrator', scope, { attempt: 1, exitCode: 0 }],
    ['session.running', 'monitor', { session: 'claude/s-1' }, session],
    ['session.ended', 'monitor', { session: 'claude/s-1' }, { ...session, reason: 'exit' }],
    ['tracker.issue.created', 'tracker.webhook', { ticket: 'ENG-1' }, { title: 'Login' }],
  ];
  const rest = { schemaVersion: 1, host: { id: '00000000-0000-4000-8000-000000000000', name: 'laptop' } };
  return facts
    .map(([event, source, scope_, detail], index) => {
      const via = source === 'tracker.webhook' ? 'live' : 'local';
      const ids = { seq: index + 1, ts: '2026-01-02T03:04:05.000Z', id: `line-${index + 1}` };
      return `${JSON.stringify({ ...ids, ...rest, event, source, via, scope: scope_, detail })}\n`;
    })
    .join('');
}

function helperFacts(): object[] {
  const scope = { orchestrator: 'run-1' };
  const ticket = { ...scope, ticket: 'ENG-1' };
  return [
    { event: 'workflow.ticket.phase_changed', scope: ticket, detail: { to: 'inProgress' } },
    {
      event: 'comms.attention',
      scope: ticket,
      detail: { reason: 'look-here', message: 'Look.', severity: 'high' },
    },
    { event: 'feedback.finding_added', scope: ticket, detail: { title: 'Slow tests', severity: 'low' } },
    { event: 'archive.swept', detail: { orchestrators: ['run-0'], files: 1, bytes: 1 } },
    { event: 'orchestrator.run.completed', scope, detail: {} },
  ];
}

async function boardAndOutbox(): Promise<Pick<Kept, 'board' | 'pending'>> {
  const settled = async () => {
    const { state } = await askJson<{ state: { ready: boolean; seq: number; logSeq: number } }>(
      `${url}/api/health`,
    );
    return state.ready && state.seq === state.logSeq;
  };
  await until(settled);
  const board = await askJson<Board>(`${url}/api/board?all=1`);
  const { effects } = await askJson<Outbox>(`${url}/api/outbox`);
  return { board, pending: effects.filter(({ state }) => state === 'pending').map(({ key }) => key) };
}

/** Opens the folder with the code of the working tree. */
async function open(kept: Kept): Promise<void> {
  const started = performance.now();
  const killWhileStarting = createStartKiller({ dataDir }, random);
  for (let kill = 0; kill < options.kills; kill += 1) {
    if (kill % 2 === 0) await killWhileStarting(() => start(repository));
    else {
      const daemon = start(repository);
      // It answers while it still reads the log.
      await daemon.ready;
      await sleep(random.below(1_000));
      await daemon.kill();
    }
  }
  const daemon = start(repository);
  await daemon.ready;
  const now = await boardAndOutbox();
  const ending = await daemon.stop();
  const verified = svc(repository, 'archive', 'verify').trim();
  const format = JSON.parse(readFileSync(join(dataDir, 'format.json'), 'utf8')) as { format: number };
  const problems = await problemsIn(kept, { ...now, lines: logLines(eventsDir) });
  printProblems(problems);
  console.log(
    `${options.kills} kills, ${secondsSince(started)} s; ${kept.lines.length} lines kept, format ${format.format}; archive: ${verified}; stopped with ${ending}`,
  );
  console.log(problems.length === 0 ? 'nothing was lost' : `${problems.length} PROBLEMS`);
  failUnless(problems.length === 0 && ending === 0 && verified.includes('all intact'));
  if (!options.sabotage) return;
  const lines = logLines(eventsDir);
  const full = { ...now, lines };
  const damaged: [what: string, kept: Kept, now: Kept][] = [
    ['a line is gone', kept, { ...full, lines: lines.toSpliced(random.below(kept.lines.length), 1) }],
    ['a worker is gone', kept, { ...full, board: { ...now.board, workers: [] } }],
    ['an effect is gone', { ...kept, pending: [...kept.pending, 'lost'] }, full],
  ];
  for (const [what, one, other] of damaged) {
    const [found] = await problemsIn(one, other);
    judgeSabotage(what, found?.slice(0, 100) ?? 'nothing', found !== undefined);
  }
}

async function problemsIn(kept: Kept, now: Kept): Promise<string[]> {
  const audit = await auditLog(eventsDir);
  const changed = kept.lines.findIndex((line, index) => line !== now.lines[index]);
  const problems = [
    ...(changed < 0 ? [] : [`line ${changed + 1} is not what was written: ${now.lines[changed] ?? 'none'}`]),
    ...(audit.holes + audit.torn > 0 ? [`${audit.holes} holes, ${audit.torn} torn lines in the log`] : []),
    ...kept.pending.filter((key) => !now.pending.includes(key)).map((key) => `the effect ${key} is gone`),
  ];
  for (const [kind, entities] of Object.entries(kept.board)) {
    if (!Array.isArray(entities) || ownKinds.has(kind)) continue;
    for (const entity of entities) {
      const id = entity['key'] ?? entity['id'];
      const found = now.board[kind]?.find((one) => (one['key'] ?? one['id']) === id);
      const other = Object.entries(entity).filter(
        ([name, value]) => !isDeepStrictEqual(found?.[name], value),
      );
      if (other.length > 0)
        problems.push(
          `${kind} ${String(id)}: ${other.map(([name, value]) => `${name} was ${JSON.stringify(value)}, is ${JSON.stringify(found?.[name])}`).join('; ')}`,
        );
    }
  }
  return problems;
}

/** Texts that a test can open anywhere: the database as SQL, and no file that only this machine needs. */
function keep(folder: string, { board }: Kept): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const name of ['events', 'runs', 'archives'])
    cpSync(join(dataDir, name), join(folder, name), { recursive: true });
  if (existsSync(join(dataDir, 'format.json')))
    cpSync(join(dataDir, 'format.json'), join(folder, 'format.json'));
  cpSync(join(home, '.config/svc/config.json'), join(folder, 'config.json'));
  cpSync(join(home, '.svc/config.json'), join(folder, 'project.json'));
  writeFileSync(join(folder, 'svc.sql'), dumpOf(join(dataDir, 'svc.db')));
  writeFileSync(join(folder, 'board.json'), `${JSON.stringify(board, null, 1)}\n`);
  console.log(`kept: ${folder}`);
}

function dumpOf(path: string): string {
  const database = new DatabaseSync(path);
  const made = database.prepare(
    "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'",
  );
  const text: string[] = ['BEGIN;'];
  const last: string[] = [];
  for (const { type, name, sql } of made.all()) {
    if (type !== 'table') last.push(`${String(sql)};`);
    else text.push(`${String(sql)};`, ...rowsOf(database, String(name)));
  }
  database.close();
  return [...text, ...last, 'COMMIT;', ''].join('\n');
}

function rowsOf(database: DatabaseSync, table: string): string[] {
  // Snapshots are as large as the board, and are made again.
  if (table.startsWith('state_')) return [];
  const rows = database.prepare(`SELECT * FROM "${table}"`).all();
  return rows.map((row) => `INSERT INTO "${table}" VALUES (${Object.values(row).map(sqlOf).join(', ')});`);
}

function sqlOf(value: SQLOutputValue): string {
  if (value === null) return 'NULL';
  if (value instanceof Uint8Array) return `X'${Buffer.from(value).toString('hex')}'`;
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value);
}

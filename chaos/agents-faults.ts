// Faults of agents, of their files and of the daemon, one after the other: what the API and the board show must equal the
// truth within two seconds. The truth is what this script made the agent do, and what the agent wrote down itself.
import { appendFileSync, existsSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { mountSmallDisk } from '../packages/testkit/src/daemon/small-disk.ts';
import { printProblems, scriptOptions, spreadOf } from '../packages/testkit/src/script.ts';
import { until } from '../packages/testkit/src/waiting.ts';
import { type Found, permission, putUnderFault, type Steps, type UnderFault } from './agents-truth.ts';
import { openAgentsWorld } from './agents-world.ts';
import { scenario } from './scenario.ts';

const options = scriptOptions({ faults: true, only: 0, 'limit-ms': 2_000 });
const JOURNAL_BYTES = 64 * 1024 * 1024;
const DISK_MEBIBYTES = 64;
/** Long enough to see that an agent has ended. */
const timings = { revivalDelaysSec: [5, 5, 5], settleSec: 1, journalBytes: JOURNAL_BYTES };

type Fault = {
  name: string;
  env?: Record<string, string>;
  /** It does not become idle. */
  isStuck?: boolean;
  inject: (at: UnderFault) => Promise<unknown>;
};

const fault = (name: string, inject: Fault['inject'], more: Partial<Fault> = {}): Fault => ({
  name,
  inject,
  ...more,
});

const question = (id: string): object => ({
  id,
  method: 'elicitation/create',
  params: {
    sessionId: 'session-1',
    mode: 'form',
    message: 'Which port?',
    requestedSchema: { type: 'object', properties: { port: { type: 'integer' } }, required: ['port'] },
  },
});
const updateLine = (update: object): object => ({
  method: 'session/update',
  params: { sessionId: 'session-1', update },
});
const base64 = (content: string | Buffer): string => Buffer.from(content).toString('base64');
const chunkLine = (text: string): string =>
  JSON.stringify(updateLine({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } }));
const answers = (given: Record<string, object | null>) => ({ ANSWERS: JSON.stringify(given) });
const refused = { error: { code: -32602, message: 'Invalid params', data: { details: 'unknown session' } } };

/** The line does not change what is shown: the turn goes on, and ends. */
const harmless = (name: string, ...steps: Steps): Fault =>
  fault(name, async (at) => {
    await at.take([...steps, ['note', 'past'], ['pause', 1_500], ['end']], 'past');
    await at.shows({ state: 'running' });
    await at.turnsOver();
    await at.shows({ state: 'idle', open: 0 });
  });
const failedStart = (name: string, env: Record<string, string>, problem: RegExp): Fault =>
  fault(
    name,
    async (at) => {
      await until(() => existsSync(at.journalFile()) && at.pids().length === 0);
      await at.shows({ state: 'ended', problem });
    },
    { env, isStuck: true },
  );

const faults: readonly Fault[] = [
  fault('agent killed in mid-prompt', async (at) => {
    await at.take([['chunks', 1]]);
    await at.shows({ state: 'running' });
    at.kill('SIGKILL');
    await at.shows({ state: 'ended' });
  }),
  fault('agent killed while a permission is open', async (at) => {
    await at.asks('p1');
    at.kill('SIGKILL');
    await at.shows({ state: 'ended', open: 0 });
  }),
  ...[0, 1].map((code) =>
    fault(`agent exits with code ${code} in mid-turn`, async (at) => {
      await at.take(
        [
          ['chunks', 1],
          ['note', 'past'],
          ['exit', code],
        ],
        'past',
      );
      await at.shows({ state: 'ended' });
    }),
  ),
  fault('agent killed after a restart of the daemon', async (at) => {
    await at.restartDaemon();
    await at.shows({ state: 'idle' });
    at.kill('SIGKILL');
    await at.shows({ state: 'ended' });
  }),
  fault(
    'silent at initialize',
    async (at) => {
      await until(() => existsSync(at.sentFile()) && at.pids().length > 0);
      await at.shows({ state: 'starting' });
      await at.stays({ state: 'starting' });
    },
    { env: answers({ initialize: null }), isStuck: true },
  ),
  fault('silent in mid-turn', async (at) => {
    await at.take([]);
    await at.shows({ state: 'running' });
    await at.stays({ state: 'running' });
  }),
  harmless('garbage line', ['raw', base64('this is not JSON\n{"half": \n[1,2]\nnull\n')]),
  harmless('binary garbage', ['raw', base64(Buffer.from([...Array(256).keys(), 10]))]),
  fault('half a line, then nothing', async (at) => {
    await at.take(
      [
        ['raw', base64(chunkLine('half').slice(0, 60))],
        ['note', 'past'],
      ],
      'past',
    );
    await at.shows({ state: 'running' });
    await at.stays({ state: 'running' });
  }),
  fault('half a line, completed later', async (at) => {
    const line = `${chunkLine('whole')}\n`;
    await at.take([
      ['raw', base64(line.slice(0, 60))],
      ['pause', 1_000],
      ['raw', base64(line.slice(60))],
      ['end'],
    ]);
    await at.turnsOver();
    await at.shows({ state: 'idle' });
    await at.says('whole');
  }),
  fault('line with invalid UTF-8', async (at) => {
    const [start, end] = chunkLine('a|b').split('|');
    const bytes = Buffer.concat([
      Buffer.from(start ?? ''),
      Buffer.from([0xff, 0xc0]),
      Buffer.from(`${end}\n`),
    ]);
    await at.take([['raw', base64(bytes)], ['end']]);
    await at.turnsOver();
    await at.shows({ state: 'idle' });
    await at.says('a\uFFFD\uFFFDb');
  }),
  harmless('2 MB tool update', ['tool', 2_000_000]),
  harmless('30 MB line', ['tool', 30_000_000]),
  harmless('40 MB line', ['tool', 40_000_000]),
  fault('request never answered', async (at) => {
    await at.asks('p1');
    await at.stays({ state: 'needs-permission', open: 1 });
    await at.stop();
    await at.shows({ state: 'idle', open: 0 });
  }),
  fault('two permissions at once, answered in reverse order', async (at) => {
    await at.take([['line', permission('p1')], ['line', permission('p2')], ['answers', 2], ['end']]);
    await at.shows({ state: 'needs-permission', open: 2 });
    await at.answer('"p2"', 'reject_once');
    await at.shows({ state: 'needs-permission', open: 1 });
    await at.answer('"p1"', 'allow_once');
    await at.takes('answer p1 ');
    await at.shows({ state: 'idle', open: 0 });
    at.got(/^answer p2 .*o-reject_once/, 1);
    at.got(/^answer p1 .*o-allow_once/, 1);
  }),
  fault('the same request id twice at once', async (at) => {
    await at.take([['line', permission(7)], ['line', permission(7)], ['answers', 1], ['end']]);
    await at.shows({ state: 'needs-permission', open: 1 });
    await at.answer('7', 'allow_once');
    await at.takes('answer 7 ');
    await at.shows({ state: 'idle', open: 0 });
    at.got(/^answer 7 /, 1);
  }),
  fault('the same request id again after its answer', async (at) => {
    await at.take([
      ['line', permission(7)],
      ['answers', 1],
      ['line', permission(7)],
      ['answers', 2],
      ['end'],
    ]);
    await at.shows({ state: 'needs-permission', open: 1 });
    await at.answer('7', 'allow_once');
    await at.takes('answer 7 ');
    await at.shows({ state: 'needs-permission', open: 1 });
    await at.answer('7', 'reject_once');
    await until(() => at.received(/^answer 7 /).length === 2);
    await at.shows({ state: 'idle', open: 0 });
  }),
  fault('permission withdrawn by $/cancel_request', async (at) => {
    const withdrawal = { method: '$/cancel_request', params: { requestId: 'p1' } };
    await at.take([
      ['line', permission('p1')],
      ['pause', 1_000],
      ['line', withdrawal],
      ['note', 'past'],
    ]);
    await at.shows({ state: 'needs-permission', open: 1, isBrief: true });
    await at.takes('past');
    await at.shows({ state: 'running', open: 0 });
  }),
  ...Object.entries({ 'without options': [], 'with options of unknown kinds': ['allow_until_noon'] }).map(
    ([what, kinds]) =>
      fault(`permission ${what}`, async (at) => {
        await at.take([['line', permission('p1', kinds)]]);
        await at.shows({ state: 'needs-permission', open: 1 });
        await at.stop();
        await at.takes('answer p1 ');
        await at.shows({ state: 'idle', open: 0 });
        at.got(/^answer p1 .*"cancelled"/, 1);
      }),
  ),
  fault('permission asked between two turns', async (at) => {
    await at.take([['end'], ['line', permission('p1')], ['answers', 1], ['note', 'past']]);
    await at.shows({ state: 'needs-permission', open: 1 });
    await at.answer('"p1"', 'allow_once');
    await at.takes('past');
    await at.shows({ state: 'idle', open: 0 });
  }),
  fault('unknown agent request', async (at) => {
    await at.take([
      ['line', { id: 'f1', method: 'fs/write_text_file', params: {} }],
      ['answers', 1],
      ['end'],
    ]);
    await at.takes('answer f1 ');
    await at.shows({ state: 'idle', open: 0 });
    at.got(/^answer f1 .*-32601/, 1);
  }),
  harmless(
    'unknown update kinds',
    ['line', updateLine({ sessionUpdate: 'future_kind', value: 1 })],
    ['line', updateLine({ sessionUpdate: null })],
    ['line', { method: 'session/update' }],
  ),
  harmless('answer to a request that was never sent', [
    'line',
    { id: 4_711, result: { stopReason: 'end_turn' } },
  ]),
  fault('prompt answered twice', async (at) => {
    await at.take([['end'], ['end'], ['note', 'past']], 'past');
    await at.shows({ state: 'idle' });
    at.logged('agent.turn.ended', 2);
  }),
  fault('prompt answered with an error', async (at) => {
    await at.take([['error'], ['note', 'past']], 'past');
    await at.shows({ state: 'idle', problem: /Internal error/ });
  }),
  failedStart(
    'initialize with version 2',
    answers({ initialize: { result: { protocolVersion: 2 } } }),
    /version 2/,
  ),
  failedStart('initialize with an error', answers({ initialize: refused }), /unknown session/),
  failedStart(
    'session/new without a login',
    answers({ 'session/new': { error: { code: -32000, message: 'Authentication required' } } }),
    /Authentication required/,
  ),
  failedStart(
    'mode that cannot be set',
    answers({ 'session/set_config_option': refused }),
    /permission mode ask/,
  ),
  fault(
    'feeder killed',
    async (at) => {
      at.kill('SIGKILL', 'feeder');
      await at.shows({ state: 'ended' });
    },
    { env: { STAYS: '1' } },
  ),
  fault('agent stopped, then continued', async (at) => {
    at.kill('SIGSTOP');
    await at.send('say 2');
    await at.shows({ state: 'running' });
    await at.stays({ state: 'running' });
    at.kill('SIGCONT');
    await at.takes('prompt say 2');
    await at.shows({ state: 'idle' });
    at.got(/^prompt say 2$/, 1);
  }),
  fault('journal truncated', async (at) => {
    truncateSync(at.journalFile(), 0);
    await until(() => at.pids().length === 0);
    await at.shows({ state: 'ended' });
  }),
  fault('journal replaced', async (at) => {
    writeFileSync(`${at.journalFile()}.new`, 'x'.repeat(100_000));
    renameSync(`${at.journalFile()}.new`, at.journalFile());
    await until(() => at.pids().length === 0);
    await at.shows({ state: 'ended' });
  }),
  fault('record corrupt', async (at) => {
    writeFileSync(at.recordFile(), '{"agent":');
    await at.restartDaemon();
    await until(() => at.pids().length === 0);
    await at.shows({ state: 'ended' });
  }),
  fault('sent file with a torn last line', async (at) => {
    await at.restartDaemon(() => appendFileSync(at.sentFile(), '{"jsonrpc":"2.0","id":9,"met'));
    await at.send('say 2');
    await at.takes('prompt say 2');
    await at.shows({ state: 'idle' });
    at.got(/^prompt say 2$/, 1);
  }),
  fault('daemon killed between `sent` and the agent’s reading', async (at) => {
    at.kill('SIGSTOP', 'feeder');
    await at.send('say 2');
    await at.restartDaemon();
    await at.shows({ state: 'running' });
    at.kill('SIGCONT', 'feeder');
    await at.takes('prompt say 2');
    await at.shows({ state: 'idle' });
    at.got(/^prompt say 2$/, 1);
  }),
  fault('daemon killed while a permission is open, answered afterwards', async (at) => {
    await at.asks('p1', ['answers', 1], ['end']);
    await at.restartDaemon();
    await at.shows({ state: 'needs-permission', open: 1 });
    await at.answer('"p1"', 'allow_once');
    await at.takes('answer p1 ');
    await at.shows({ state: 'idle', open: 0 });
    at.got(/^answer p1 /, 1);
  }),
  fault('journal cap', async (at) => {
    await at.take([...Array.from({ length: 3 }, (): Steps[number] => ['tool', 25_000_000]), ['end']]);
    await until(() => at.pids().length === 0);
    await at.shows({ state: 'ended' });
    await at.send('say 2');
    await at.takes('prompt say 2');
    at.logged('agent.session.started', 1, ({ how }) => how === 'resume');
  }),
  fault(
    'session gone: resume and load refused, a new one with a summary',
    async (at) => {
      await at.take([['raw', base64(`${chunkLine('half of it is done')}\n`)], ['end']]);
      await until(() => world.linesIn(at.journalFile()).some((line) => line.includes('half of it is done')));
      await at.revive();
      at.logged('agent.session.started', 2, ({ how }) => how === 'new');
      at.got(/^half of it is done$/, 1);
    },
    { env: answers({ 'session/resume': refused, 'session/load': refused }) },
  ),
  fault(
    'resume refused, load replays 500 updates',
    async (at) => {
      await at.take([['chunks', 3], ['end']]);
      await at.revive();
      at.logged('agent.session.started', 1, ({ how }) => how === 'load');
      at.logged('agent.message', 0, ({ text }) => String(text).startsWith('replayed'));
    },
    { env: answers({ 'session/resume': refused }) },
  ),
  ...[2, -2].map((hours) =>
    fault(`the clock jumps by ${hours} h in mid-turn, and back while a permission is open`, async (at) => {
      await at.take([['chunks', 1], ['pause', 5_000], ['line', permission('p1')], ['answers', 1], ['end']]);
      await at.shows({ state: 'running' });
      world.setClockAhead(hours * 3_600_000);
      await at.stays({ state: 'running' });
      await until(() => world.linesIn(at.journalFile()).some((line) => line.includes('"p1"')));
      await at.shows({ state: 'needs-permission', open: 1 });
      world.setClockAhead(0);
      await at.stays({ state: 'needs-permission', open: 1 });
      await at.answer('"p1"', 'allow_once');
      await at.turnsOver();
      await at.shows({ state: 'idle', open: 0 });
      at.got(/^answer p1 /, 1);
    }),
  ),
  fault('two daemons start at once', async (at) => {
    await at.asks('p1', ['answers', 1], ['end']);
    // The second one refuses to start, or the first one does.
    await world.daemon.kill();
    const first = world.daemon.start();
    const second = world.daemon.start();
    const other = await Promise.any([first.ready.then(() => second), second.ready.then(() => first)]);
    await other.ended;
    // The world knows only the second one.
    if (other === second) {
      await first.kill();
      await at.restartDaemon();
    }
    await at.shows({ state: 'needs-permission', open: 1 });
    await at.answer('"p1"', 'allow_once');
    await at.takes('answer p1 ');
    await at.shows({ state: 'idle', open: 0 });
    at.got(/^answer p1 /, 1);
  }),
  fault('full disk for the log', async (at) => {
    if (typeof disk === 'string') {
      console.log(`  not tried: ${disk}`);
      return;
    }
    disk.fill();
    await at.take([['line', permission('p1')]]);
    await at.shows({ state: 'needs-permission', open: 1 }, false);
    disk.makeRoom();
    await at.shows({ state: 'needs-permission', open: 1 });
  }),
  fault('agent writes 5,000 chunks', async (at) => {
    await at.take([['chunks', 5_000], ['end'], ['note', 'past']], 'past');
    await at.shows({ state: 'idle' });
    await at.says('x'.repeat(5_000));
    at.logged('agent.message', 1);
  }),
  ...(['accept', 'decline'] as const).map((answer) =>
    fault(`question with a form: ${answer}`, async (at) => {
      await at.take([['line', question('q1')], ['answers', 1], ['end']]);
      await at.shows({ state: 'needs-input', open: 1 });
      await at.answer('"q1"', answer, answer === 'accept' ? { content: { port: 80 } } : {});
      await at.takes('answer q1 ');
      await at.shows({ state: 'idle', open: 0 });
      at.got(answer === 'accept' ? /^answer q1 .*"port":80/ : /^answer q1 .*"decline"/, 1);
    }),
  ),
];

const numbers = faults.map((_, index) => index + 1).filter((number) => [0, number].includes(options.only));
const ticketOf = (number: number): string => `F-${number}`;
const world = await openAgentsWorld(
  'chaos-agents',
  Object.fromEntries(numbers.map((number) => [ticketOf(number), faults[number - 1]?.env ?? {}])),
  timings,
);
const disk = mountSmallDisk(world.home.eventsDir, DISK_MEBIBYTES);
const found: Found = {
  problems: [],
  times: [],
  unknown: 0,
  waits: { hidden: 0, 'left over': 0 },
  handled: 0,
};

world.daemon.start();
await world.daemon.ready();
await scenario({
  title: `${numbers.length} faults`,
  world: {
    async close() {
      await world.daemon.kill();
      if (typeof disk !== 'string') disk.unmount();
      await world.close();
    },
  },
  async load() {
    for (const number of numbers) await tryFault(number);
  },
  verdict(seconds) {
    const { p50Ms, p99Ms, slowestMs } = spreadOf(found.times);
    const { problems, times, unknown, waits, handled } = found;
    return {
      figures: [
        `${seconds.toFixed(1)} s, ${numbers.length} faults, ${times.length + unknown} states: wrong ${problems.length}, unknown ${unknown}, ${handled} questions handled, hidden ${waits.hidden}, left over ${waits['left over']}; shown after p50 ${p50Ms.toFixed(0)} ms, p99 ${p99Ms.toFixed(0)} ms, slowest ${slowestMs.toFixed(0)} ms`,
      ],
      problems,
    };
  },
});

async function tryFault(number: number): Promise<void> {
  const chosen = faults[number - 1];
  if (chosen === undefined) return;
  const before = found.problems.length;
  const at = putUnderFault(world, ticketOf(number), found, options['limit-ms']);
  await at.start();
  if (chosen.isStuck !== true) await world.untilState(at.ticket, 'idle');
  await chosen.inject(at).catch((error: unknown) => found.problems.push(`${at.ticket}: ${String(error)}`));
  const isRight = found.problems.length === before;
  console.log(`  ${String(number).padStart(2)} ${chosen.name}: ${isRight ? 'right' : 'WRONG'}`);
  printProblems(found.problems.slice(before));
  await at.end();
}

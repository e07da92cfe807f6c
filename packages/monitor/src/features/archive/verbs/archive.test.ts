import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { testTerminal } from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { runCommandLine } from '../../../cli/run.ts';

const NOW = '2026-01-02T03:04:05.678Z';
const LONG_AGO = new Date('2026-01-01T00:00:00Z');

type Given = Parameters<typeof testTerminal>[0] & { archive?: object };

/** A home with runs, and a person who runs verbs in it. */
function home({ archive, ...given }: Given = {}) {
  const terminal = testTerminal({ now: NOW, ...given });
  let now = NOW;
  const at = (...names: string[]) => join(terminal.home, ...names);
  const write = (path: string, content: string | Buffer, time = LONG_AGO): void => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), content);
    utimesSync(at(path), time, time);
  };
  if (archive) write('.config/svc/config.json', JSON.stringify({ archive }));
  const signal = (orchestrator: string, ticket: string, status: string, time = LONG_AGO): void =>
    write(
      `svc/runs/${orchestrator}/workers/${ticket}.json`,
      JSON.stringify({
        ticket,
        orchestrator,
        workerName: `${orchestrator}-${ticket}`,
        status,
        phase: 'x',
        startedAt: '2026-01-01T00:00:00Z',
        updatedAt: '2026-01-01T00:00:00Z',
      }),
      time,
    );
  let seq = 0;
  const log = (event: string, scope: object, detail: object = {}): string => {
    seq += 1;
    const ts = '2026-01-01T00:00:00.000Z';
    const rest = { schemaVersion: 1, source: 'orchestrator', via: 'local', host: { id: 'h', name: 'h' } };
    const line = `${JSON.stringify({ seq, ts, id: `e${seq}`, event, ...rest, scope, detail })}\n`;
    mkdirSync(at('svc/events'), { recursive: true });
    writeFileSync(at('svc/events/2026-01.jsonl'), line, { flag: 'a' });
    return line;
  };
  return {
    at,
    write,
    signal,
    log,
    terminal,
    /** An ended run with a signal file, a long stream, a verification log and a summary. */
    endedRun: (orchestrator: string): void => {
      signal(orchestrator, 'ABC-1', 'done');
      write(`svc/runs/${orchestrator}/workers/output/ABC-1.jsonl`, '{"type":"text"}\n'.repeat(10_000));
      write(`svc/runs/${orchestrator}/verification/ABC-1.log`, 'all good\n');
      write(`svc/runs/${orchestrator}/summary.md`, '# What happened\n');
    },
    setTime: (time: string): void => void (now = time),
    svc: (...words: string[]) =>
      runCommandLine({ ...terminal, now: () => new Date(now) }, ['archive', ...words]),
    manifest: (orchestrator: string) =>
      JSON.parse(readFileSync(at('svc/archives', orchestrator, 'manifest.json'), 'utf8')),
    reported: () =>
      existsSync(at('svc/spool'))
        ? readdirSync(at('svc/spool'))
            .toSorted()
            .map((name) => JSON.parse(readFileSync(at('svc/spool', name), 'utf8')))
        : [],
  };
}

/** Every file below a folder with its content, mode and times: what must not change. */
function picture(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return Object.fromEntries(
    files.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const { mode, mtimeMs, ctimeMs, ino } = statSync(path);
      const hash = createHash('sha256').update(readFileSync(path)).digest('hex');
      return [path.slice(folder.length + 1), `${hash} ${mode} ${mtimeMs} ${ctimeMs} ${ino}`];
    }),
  );
}

const paths = (manifest: { files: { path: string }[] }) => manifest.files.map(({ path }) => path);

describe('sweep', () => {
  test('an ended run becomes blobs in its own folder and rows of the index', async () => {
    const { svc, endedRun, log, at, manifest, reported, terminal, write } = home();
    endedRun('orch-1');
    endedRun('orch-1-2');
    write('svc/comms/channels/orch-1.jsonl', 'hello\n');
    write('svc/comms/channels/orch-1-2-review.jsonl', 'other\n');
    const own = log('orchestrator.run.completed', { orchestrator: 'orch-1' });
    log('orchestrator.run.completed', { orchestrator: 'orch-1-2' });
    expect(existsSync(at('svc/archives'))).toBe(false);
    expect(await svc('sweep')).toBe(0);
    expect(readdirSync(at('svc/archives'))).toEqual(['orch-1', 'orch-1-2']);
    expect(statSync(at('svc/archives')).mode & 0o777).toBe(0o700);
    expect(paths(manifest('orch-1'))).toEqual([
      'channels/orch-1.jsonl',
      'events.jsonl',
      'run/summary.md',
      'run/verification/ABC-1.log',
      'run/workers/ABC-1.json',
      'run/workers/output/ABC-1.jsonl',
    ]);
    expect(paths(manifest('orch-1-2'))).toContain('channels/orch-1-2-review.jsonl');
    const stream = manifest('orch-1').files.at(-1);
    expect(stream).toMatchObject({ size: 160_000, encoding: 'zstd', mode: 0o644 });
    expect(stream.storedSize).toBeLessThan(2_000);
    const events = manifest('orch-1').files[1];
    expect(events.sha256).toBe(createHash('sha256').update(own).digest('hex'));
    expect(terminal.printed()).toContain('2 archived, 0 updated, 0 unchanged');
    expect(reported()).toMatchObject([
      { event: 'archive.swept', detail: { orchestrators: ['orch-1', 'orch-1-2'], files: 12 } },
    ]);
    // The source stays.
    expect(existsSync(at('svc/runs/orch-1/summary.md'))).toBe(true);
    expect(await svc('verify')).toBe(0);
  });

  test('sweeping again changes nothing and reports nothing', async () => {
    const { svc, endedRun, log, at, reported, terminal, setTime } = home();
    endedRun('orch-1');
    log('orchestrator.run.completed', { orchestrator: 'orch-1' });
    await svc('sweep');
    const before = picture(at('svc/archives'));
    setTime('2026-01-05T00:00:00Z');
    log('archive.swept', { orchestrator: 'orch-1' }, { orchestrators: ['orch-1'] });
    for (const words of [['sweep'], ['sweep', 'orch-1'], ['sweep', '--dry-run']]) {
      expect(await svc(...words)).toBe(0);
      expect(picture(at('svc/archives'))).toEqual(before);
    }
    expect(terminal.printed()).toContain('0 archived, 0 updated, 1 unchanged');
    expect(reported()).toHaveLength(1);
  });

  test('two sweeps at once do the work of one', async () => {
    const { svc, endedRun, reported } = home();
    for (let run = 0; run < 5; run += 1) endedRun(`orch-${run}`);
    expect(await Promise.all([svc('sweep'), svc('sweep')])).toEqual([0, 0]);
    expect(reported()).toHaveLength(1);
    expect(await svc('verify')).toBe(0);
  });

  test('new content of a run replaces its archive; files deleted from the run stay in it', async () => {
    const { svc, endedRun, log, at, write, manifest } = home();
    endedRun('orch-1');
    const first = log('orchestrator.run.completed', { orchestrator: 'orch-1' });
    await svc('sweep');
    write('svc/runs/orch-1/summary.md', '# More\n', new Date('2026-01-01T05:00:00Z'));
    write('svc/runs/orch-1/late.txt', 'late\n');
    rmSync(at('svc/runs/orch-1/verification'), { recursive: true });
    const second = log('orchestrator.deploy.succeeded', { orchestrator: 'orch-1', ticket: 'ABC-1' });
    expect(await svc('sweep')).toBe(0);
    expect(paths(manifest('orch-1'))).toContain('run/late.txt');
    expect(paths(manifest('orch-1'))).toContain('run/verification/ABC-1.log');
    expect(await svc('verify')).toBe(0);
    expect(await svc('restore', 'orch-1', '--to', 'back')).toBe(0);
    expect(readFileSync(at('back/run/summary.md'), 'utf8')).toBe('# More\n');
    expect(readFileSync(at('back/events.jsonl'), 'utf8')).toBe(first + second);
  });

  test.each([
    ['a run that goes on', 'implementing', LONG_AGO, 'tickets have not ended'],
    ['a run that changed a moment ago', 'done', new Date(NOW), 'it changed within the last hour'],
  ])('%s waits, unless it is named', async (_, status, time, words) => {
    const { svc, signal, terminal, at } = home();
    signal('orch-1', 'ABC-1', status, time);
    expect(await svc('sweep')).toBe(0);
    expect(terminal.printed()).toContain(words);
    expect(readdirSync(at('svc/archives'))).toEqual([]);
    expect(await svc('sweep', 'orch-1')).toBe(0);
    expect(readdirSync(at('svc/archives'))).toEqual(['orch-1']);
  });

  test('missing optional artifacts are tolerated: signal files alone, no channels, no log', async () => {
    const { svc, signal, manifest } = home();
    signal('orch-1', 'ABC-1', 'canceled');
    expect(await svc('sweep')).toBe(0);
    expect(paths(manifest('orch-1'))).toEqual(['run/workers/ABC-1.json']);
    expect(await svc('verify')).toBe(0);
  });

  test('without any runs the root is created, and nothing else happens', async () => {
    const { svc, at, terminal } = home({ environment: { SVC_ARCHIVE_ROOT: '~/elsewhere/archives' } });
    expect(await svc('sweep')).toBe(0);
    expect(existsSync(at('elsewhere/archives'))).toBe(true);
    expect(readdirSync(at('elsewhere/archives'))).toEqual([]);
    expect(terminal.printed()).toBe('0 archived, 0 updated, 0 unchanged; 0 B (0 B stored).');
    expect(await svc('sweep', 'nobody')).toBe(1);
    expect(await svc('sweep', '../out')).toBe(2);
  });

  test('--dry-run shows what would happen and writes nothing', async () => {
    const { svc, endedRun, at, terminal, reported } = home();
    endedRun('orch-1');
    expect(await svc('sweep', '--dry-run')).toBe(0);
    expect(terminal.printed()).toContain('orch-1: would be archived: 4 files');
    expect(existsSync(at('svc/archives'))).toBe(false);
    expect(reported()).toEqual([]);
  });

  test('runs and channels are read where SVC_RUNS_DIR and SVC_COMMS_DIR say', async () => {
    const base = home();
    const environment = {
      SVC_RUNS_DIR: base.at('elsewhere/runs'),
      SVC_COMMS_DIR: base.at('elsewhere/channels'),
    };
    base.write('elsewhere/runs/orch-9/note.txt', 'x');
    base.write('elsewhere/channels/orch-9.jsonl', 'hello\n');
    const terminal = { ...base.terminal, environment: { ...base.terminal.environment, ...environment } };
    expect(await runCommandLine(terminal, ['archive', 'sweep', 'orch-9'])).toBe(0);
    expect(paths(base.manifest('orch-9'))).toEqual(['channels/orch-9.jsonl', 'run/note.txt']);
  });

  test('links are never followed, and hostile names lead nowhere', async () => {
    const { svc, endedRun, at, write, manifest } = home();
    write('secret/key', 'hush');
    endedRun('orch-1');
    symlinkSync(at('secret/key'), at('svc/runs/orch-1/key'));
    symlinkSync(at('secret'), at('svc/runs/orch-1/folder'));
    symlinkSync(at('secret'), at('svc/runs/orch-2'));
    const odd = ['-rf', 'a\nb', '%2e%2e', ' ', '..x', '\\..\\x'];
    for (const name of odd) write(`svc/runs/orch-1/${name}`, name);
    writeFileSync(Buffer.concat([Buffer.from(at('svc/runs/orch-1/')), Buffer.from([0xff, 0xfe])]), 'x');
    write('svc/runs/orch-1/.half.1.tmp', 'half');
    expect(await svc('sweep', 'orch-1')).toBe(0);
    const { skipped } = manifest('orch-1');
    expect(skipped).toMatchObject([
      { reason: 'has a name that cannot be archived' },
      { path: 'run/folder', reason: 'is a link' },
      { path: 'run/key', reason: 'is a link' },
    ]);
    expect(await svc('sweep', 'orch-2')).toBe(1);
    expect(await svc('restore', 'orch-1', '--to', 'back')).toBe(0);
    for (const name of odd) expect(readFileSync(at('back/run', name), 'utf8')).toBe(name);
    expect(readdirSync(at('back/run'))).not.toContain('key');
    expect(readFileSync(at('svc/archives/orch-1/manifest.json'), 'utf8')).not.toContain('hush');
  });

  test('with syncToThoughts the summary also goes to thoughts/shared/handoffs/', async () => {
    const { svc, endedRun, at, write, log } = home({ archive: { syncToThoughts: true } });
    write('.svc/config.json', JSON.stringify({ svc: { projectKey: 'demo' } }));
    endedRun('orch-1');
    endedRun('orch-2');
    mkdirSync(at('project'));
    log('orchestrator.run.started', { orchestrator: 'orch-2' }, { project: at('project') });
    expect(await svc('sweep')).toBe(0);
    const name = '2026-01-01-orch-1-summary.md';
    expect(readdirSync(at('thoughts/shared/handoffs'))).toEqual([name]);
    expect(readFileSync(at('thoughts/shared/handoffs', name), 'utf8')).toBe('# What happened\n');
    expect(readdirSync(at('project/thoughts/shared/handoffs'))).toEqual(['2026-01-01-orch-2-summary.md']);
  });

  test('without syncToThoughts it does not', async () => {
    const { svc, endedRun, at, write } = home();
    // There is a project to copy it to.
    write('.svc/config.json', JSON.stringify({ svc: { projectKey: 'demo' } }));
    endedRun('orch-1');
    expect(await svc('sweep')).toBe(0);
    expect(existsSync(at('thoughts'))).toBe(false);
  });
});

describe('list and show', () => {
  test('show what is archived, as text and as JSON', async () => {
    const { svc, endedRun, terminal } = home();
    expect(await svc('list')).toBe(0);
    expect(terminal.printed()).toContain('No archived runs in');
    endedRun('orch-1');
    await svc('sweep');
    await svc('list');
    expect(terminal.printed()).toMatch(/^orch-1 {2}2026-01-02 03:04:05 UTC {2}unknown {2}4 files {2}/m);
    await svc('show', 'orch-1');
    expect(terminal.printed()).toContain('run/summary.md');
    expect(await svc('show', 'orch-2')).toBe(1);
  });

  test('a lost index is rebuilt by the next sweep', async () => {
    const { svc, endedRun, at, terminal } = home();
    endedRun('orch-1');
    await svc('sweep');
    for (const suffix of ['', '-wal', '-shm']) rmSync(at(`svc/svc.db${suffix}`), { force: true });
    rmSync(at('svc/runs'), { recursive: true });
    expect(await svc('verify')).toBe(1);
    expect(terminal.printed()).toContain('orch-1: is not in the index');
    await svc('list');
    expect(terminal.complained()).toContain('Add them: svc archive sweep');
    expect(await svc('sweep')).toBe(0);
    expect(await svc('verify')).toBe(0);
  });
});

describe('verify', () => {
  const blobs = 'svc/archives/orch-1/blobs';
  type Home = ReturnType<typeof home>;
  const blobOf = ({ at, manifest }: Home, path: string) => {
    const file = manifest('orch-1').files.find((one: { path: string }) => one.path === path);
    return at(blobs, file.sha256 + (file.encoding === 'zstd' ? '.zst' : ''));
  };
  const flip = (path: string): void => {
    const bytes = readFileSync(path);
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
    writeFileSync(path, bytes);
  };

  test.each<[string, (given: Home) => void, string]>([
    ['a changed byte', (it) => flip(blobOf(it, 'run/summary.md')), 'run/summary.md is damaged'],
    [
      'a changed byte of a compressed one',
      (it) => flip(blobOf(it, 'run/workers/output/ABC-1.jsonl')),
      'run/workers/output/ABC-1.jsonl is damaged',
    ],
    [
      'a cut blob',
      (it) => truncateSync(blobOf(it, 'run/workers/output/ABC-1.jsonl'), 20),
      'run/workers/output/ABC-1.jsonl is damaged',
    ],
    ['a blob that is gone', (it) => rmSync(blobOf(it, 'run/summary.md')), 'run/summary.md is missing'],
    ['an extra blob', ({ at }) => writeFileSync(at(blobs, 'f'.repeat(64)), 'x'), 'is extra'],
    [
      'a missing manifest',
      ({ at }) => rmSync(at('svc/archives/orch-1/manifest.json')),
      'manifest.json is missing',
    ],
    [
      'a manifest that is broken',
      ({ at }) => writeFileSync(at('svc/archives/orch-1/manifest.json'), '{'),
      'manifest.json is not JSON',
    ],
    [
      'a manifest of gigabytes',
      ({ at }) => truncateSync(at('svc/archives/orch-1/manifest.json'), 3 * 2 ** 30),
      'manifest.json is too large',
    ],
    [
      'a missing archive',
      ({ at }) => rmSync(at('svc/archives/orch-1'), { recursive: true }),
      'folder is missing',
    ],
  ])('%s is reported, and a sweep of the run fixes it', async (_, damage, words) => {
    const it = home();
    it.endedRun('orch-1');
    await it.svc('sweep');
    expect(await it.svc('verify', 'orch-1')).toBe(0);
    damage(it);
    expect(await it.svc('verify')).toBe(1);
    expect(it.terminal.printed()).toContain(words);
    expect(await it.svc('sweep', 'orch-1')).toBe(0);
    expect(await it.svc('verify')).toBe(0);
  });

  test('leftovers of an interrupted sweep are removed by the next', async () => {
    const it = home();
    it.endedRun('orch-1');
    await it.svc('sweep');
    const left = [
      'svc/archives/orch-1/.manifest.json.1.x.tmp',
      `${blobs}/.x.tmp`,
      `${blobs}/${'e'.repeat(64)}`,
    ];
    for (const path of left) it.write(path, 'half');
    it.write('svc/archives/.svc-x/orch-1', 'half');
    expect(await it.svc('verify')).toBe(1);
    expect(await it.svc('sweep')).toBe(0);
    expect(await it.svc('verify')).toBe(0);
    expect(readdirSync(it.at('svc/archives'))).toEqual(['orch-1']);
  });

  test('a damaged slice of the log is taken from the log again', async () => {
    const it = home();
    it.endedRun('orch-1');
    it.log('orchestrator.run.completed', { orchestrator: 'orch-1' });
    await it.svc('sweep');
    flip(blobOf(it, 'events.jsonl'));
    expect(await it.svc('verify')).toBe(1);
    expect(await it.svc('sweep', 'orch-1')).toBe(0);
    expect(await it.svc('verify')).toBe(0);
  });
});

describe('restore', () => {
  test('gives the bytes, modes and times back, into a new folder only', async () => {
    const { svc, endedRun, at, reported, terminal, log } = home();
    endedRun('orch-1');
    chmodSync(at('svc/runs/orch-1/summary.md'), 0o640);
    log('orchestrator.run.completed', { orchestrator: 'orch-1' });
    await svc('sweep');
    mkdirSync(at('back'));
    expect(await svc('restore', 'orch-1', '--to', 'back')).toBe(0);
    const stream = 'workers/output/ABC-1.jsonl';
    expect(readFileSync(at('back/run', stream))).toEqual(readFileSync(at('svc/runs/orch-1', stream)));
    const summary = statSync(at('back/run/summary.md'));
    expect([summary.mode & 0o777, summary.mtime]).toEqual([0o640, LONG_AGO]);
    expect(reported().find(({ event }) => event === 'archive.restored')).toMatchObject({
      detail: { orchestrators: ['orch-1'], path: at('back') },
    });
    expect(await svc('restore', 'orch-1', '--to', 'back')).toBe(2);
    expect(terminal.complained()).toContain('not an empty folder');
    expect(await svc('restore', 'orch-2', '--to', 'other')).toBe(1);
  });

  test('of a damaged archive restores nothing', async () => {
    const { svc, endedRun, at, terminal } = home();
    endedRun('orch-1');
    await svc('sweep');
    for (const name of readdirSync(at('svc/archives/orch-1/blobs')))
      writeFileSync(at('svc/archives/orch-1/blobs', name), 'other');
    expect(await svc('restore', 'orch-1', '--to', 'back')).toBe(6);
    expect(terminal.complained()).toContain('Nothing was restored');
    expect(readdirSync(at('.')).filter((name) => name.includes('back'))).toEqual([]);
  });

  test('a manifest that would lead out of the folder is refused', async () => {
    const { svc, endedRun, at } = home();
    endedRun('orch-1');
    await svc('sweep');
    const path = at('svc/archives/orch-1/manifest.json');
    writeFileSync(path, readFileSync(path, 'utf8').replace('run/summary.md', 'run/../../../out.md'));
    expect(await svc('restore', 'orch-1', '--to', 'back')).toBe(6);
    expect(existsSync(at('out.md'))).toBe(false);
  });
});

describe('prune', () => {
  test('without retention.days and --older-than nothing is removed, with a message', async () => {
    const { svc, endedRun, at, terminal, setTime } = home();
    endedRun('orch-1');
    await svc('sweep');
    setTime('2036-01-01T00:00:00Z');
    expect(await svc('prune')).toBe(0);
    expect(terminal.printed()).toContain('archive.retention.days is null (never)');
    expect(readdirSync(at('svc/archives'))).toEqual(['orch-1']);
  });

  test('retention.days is the age, unless --older-than gives another', async () => {
    const { svc, endedRun, at, setTime, reported } = home({ archive: { retention: { days: 30 } } });
    endedRun('orch-1');
    await svc('sweep');
    setTime('2026-01-31T00:00:00Z');
    endedRun('orch-2');
    await svc('sweep');
    expect(await svc('prune')).toBe(0);
    expect(readdirSync(at('svc/archives'))).toEqual(['orch-1', 'orch-2']);
    setTime('2026-02-02T00:00:00Z');
    expect(await svc('prune', '--dry-run')).toBe(0);
    expect(readdirSync(at('svc/archives'))).toEqual(['orch-1', 'orch-2']);
    expect(await svc('prune')).toBe(0);
    expect(readdirSync(at('svc/archives'))).toEqual(['orch-2']);
    expect(reported().find(({ event }) => event === 'archive.pruned')).toMatchObject({
      detail: { orchestrators: ['orch-1'], olderThanDays: 30 },
    });
    // The run itself is still there, but the next sweep does not bring back what a person let go.
    expect(await svc('sweep')).toBe(0);
    expect(readdirSync(at('svc/archives'))).toEqual(['orch-2']);
    expect(await svc('prune', '--older-than', '1d')).toBe(0);
    expect(readdirSync(at('svc/archives'))).toEqual([]);
    expect(await svc('verify')).toBe(0);
    expect(await svc('sweep', 'orch-1')).toBe(0);
    expect(readdirSync(at('svc/archives'))).toEqual(['orch-1']);
    expect(await svc('prune', '--older-than', 'soon')).toBe(2);
  });
});

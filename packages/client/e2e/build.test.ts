// The published package as its users see it: imported by Node, and compiled with strict types.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const client = join(import.meta.dirname, '..');
const tsc = join(client, '..', '..', 'node_modules', '.bin', 'tsc');

const program = `import { ApiFailure, createClient, type Board } from 'svc-monitor-client';
const client = createClient('http://127.0.0.1:9');
export const board: Promise<Board> = client.get('/api/board');
export const why: Promise<{ rule: string }> = client.get('/api/workers/{ticket}/why', { params: { ticket: 'ABC-1' } });
why.catch(() => undefined);
board.catch((error: unknown) => console.log(error instanceof ApiFailure && error.code));
// @ts-expect-error there is no such route
export const nothing = (): unknown => client.get('/api/nothing');
`;

test('Node imports it and TypeScript reads its types, without the sources', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-client-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const dist = join(folder, 'node_modules', 'svc-monitor-client');
  mkdirSync(join(folder, 'node_modules'));
  execFileSync(process.execPath, [join(client, 'build.ts'), dist], { stdio: 'pipe' });
  expect(readdirSync(dist).filter((name) => !/\.(?:js|d\.ts)$/.test(name))).toEqual([
    'THIRD-PARTY-NOTICES.txt',
    'package.json',
  ]);
  for (const name of readdirSync(dist).filter((each) => /\.(?:js|d\.ts)$/.test(each)))
    expect(readFileSync(join(dist, name), 'utf8'), name).not.toMatch(/from ['"](?!\.\/)|import\(/);
  const manifest = JSON.parse(readFileSync(join(dist, 'package.json'), 'utf8')) as Record<string, unknown>;
  expect(manifest).toMatchObject({
    name: 'svc-monitor-client',
    exports: { '.': { types: './index.d.ts', default: './index.js' } },
  });
  expect(manifest['dependencies']).toBeUndefined();

  const compilerOptions = {
    module: 'nodenext',
    lib: ['es2024', 'dom', 'dom.iterable'],
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
  };
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'index.ts'), program);
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['index.ts'] }));
  execFileSync(tsc, ['-p', folder], { stdio: 'pipe' });
  const printed = execFileSync(process.execPath, [join(folder, 'index.js')], { encoding: 'utf8' });
  expect(printed.trim()).toBe('no-answer');
});

import { expect, test } from 'vitest';
import { detectTestCommand } from './test-command.ts';

const detect = (files: Record<string, string>) =>
  detectTestCommand({ names: Object.keys(files), text: (name) => files[name] })?.command;
const script = (command: unknown) => JSON.stringify({ scripts: { test: command } });

test.each<[string | undefined, Record<string, string>]>([
  ['npm test', { 'package.json': script('vitest run') }],
  ['pnpm test', { 'package.json': script('jest'), 'pnpm-lock.yaml': '' }],
  ['yarn test', { 'package.json': script('jest'), 'yarn.lock': '' }],
  ['bun run test', { 'package.json': script('jest'), 'bun.lock': '' }],
  [undefined, { 'package.json': script('echo "Error: no test specified" && exit 1') }],
  [undefined, { 'package.json': script('exit 0') }],
  [undefined, { 'package.json': script('echo ok') }],
  [undefined, { 'package.json': script(7) }],
  [undefined, { 'package.json': '{' }],
  [undefined, { 'package.json': '{"scripts":{"__proto__":{"test":"x"}}}' }],
  ['make test', { Makefile: 'all:\ntest: all\n\techo' }],
  ['make test', { Makefile: 'lint test: all\n' }],
  [undefined, { Makefile: 'test := x\ntest = a:b\ntests:\n\ttest: x' }],
  ['python3 -m pytest', { 'pytest.ini': '' }],
  ['uv run pytest', { 'pyproject.toml': '[tool.pytest.ini_options]', 'uv.lock': '' }],
  ['python3 -m pytest', { 'setup.py': '', tests: '' }],
  ['cargo test', { 'Cargo.toml': '' }],
  ['go test ./...', { 'go.mod': '' }],
  ['dotnet test', { 'Shop.sln': '' }],
  [undefined, { 'README.md': '' }],
])('%s: %j', (command, files) => {
  expect(detect(files)).toBe(command);
});

// The command rejects bad input before it changes or builds anything.
import { expect, test } from 'vitest';
import { run } from './run-command.ts';
import { readVersionFiles, root } from './versions.ts';

test.each([
  ['a step back', ['--version', '0.0.1'], 'not below it'],
  ['an invalid version', ['--version', 'next'], 'three numbers'],
  ['a tag of another version', ['--tag', 'v99.0.0'], 'the tag must be v'],
  ['a tag without its v', ['--tag', '99.0.0', '--version', '99.0.0'], 'the tag must be v'],
  ['an unknown option', ['--publish'], 'Usage: npm run release'],
])('%s is rejected', async (_, words, said) => {
  const before = readVersionFiles();
  const { code, stderr } = await run(process.execPath, ['release/release.ts', ...words], { cwd: root });
  expect([code, stderr]).toEqual([2, expect.stringContaining(said)]);
  expect(readVersionFiles()).toEqual(before);
});

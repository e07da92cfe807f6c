import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: [
      'packages/*/{src,e2e}/**/*.test.ts',
      'bin/**/*.test.ts',
      'chaos/**/*.test.ts',
      'docs/**/*.test.ts',
      'release/**/*.test.ts',
    ],
    setupFiles: ['packages/testkit/src/hermetic.ts'],
    testTimeout: 20_000,
    pool: 'forks',
    // Many tests wait for processes, timers and disks: more of them at once than there are cores.
    maxWorkers: 4,
  },
});

import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['packages/*/{src,e2e}/**/*.test.ts', 'bin/**/*.test.ts', 'chaos/**/*.test.ts'],
    setupFiles: ['packages/testkit/src/hermetic.ts'],
    testTimeout: 20_000,
    pool: 'forks',
  },
});

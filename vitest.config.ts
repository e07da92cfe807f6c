import { defineConfig } from 'vitest/config';
import { WAIT_MS } from './packages/testkit/src/waiting.ts';

// Pure tests share one process and its modules. Everything else gets a process per file, and more of them at once
// than there are cores, because they mostly wait for processes, timers and disks.
const pure = ['packages/{core,dashboard,client}/src/**/*.test.ts', 'docs/mutations/*.test.ts'];

export default defineConfig({
  test: {
    projects: [
      project('unit', { include: pure, isolate: false }),
      project('integration', {
        include: ['packages/*/src/**/*.test.ts', '{bin,chaos,docs,release}/**/*.test.ts'],
        exclude: pure,
        isolate: false,
      }),
      project('e2e', {
        include: ['packages/*/e2e/**/*.test.ts'],
        exclude: ['packages/dashboard/**'],
        isolate: false,
      }),
      project('browser', { include: ['packages/dashboard/e2e/**/*.test.ts'], isolate: false }),
    ],
    maxWorkers: 4,
  },
});

function project(name: string, files: { include: string[]; exclude?: string[]; isolate?: boolean }) {
  return {
    test: {
      name,
      ...files,
      pool: 'forks' as const,
      setupFiles: ['packages/testkit/src/hermetic.ts'],
      // Limits that only a test that hangs reaches: a test waits for facts (packages/testkit/src/waiting.ts).
      testTimeout: 3 * WAIT_MS,
      hookTimeout: 3 * WAIT_MS,
      expect: { poll: { timeout: WAIT_MS, interval: 20 } },
    },
  };
}

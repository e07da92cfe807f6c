import { defineConfig } from 'vitest/config';
import { WAIT_MS } from './packages/testkit/src/waiting.ts';

// More processes at once than there are cores, because most tests wait for processes, timers and disks. The files that
// one process runs share its modules. Node itself loads them, as it does in use; Vite loads those of
// the unit tests, because the dashboard's cannot be loaded without it.
const pure = ['packages/{contract,dashboard,client}/src/**/*.test.ts', 'docs/mutations/*.test.ts'];
const native = { viteModuleRunner: false, nodeLoader: false };

export default defineConfig({
  test: {
    projects: [
      project('unit', { include: pure }),
      project('integration', {
        include: ['packages/*/src/**/*.test.ts', '{bin,chaos,docs,release}/**/*.test.ts'],
        exclude: pure,
        experimental: native,
      }),
      project('e2e', {
        include: ['packages/*/e2e/**/*.test.ts'],
        exclude: ['packages/dashboard/**'],
        experimental: native,
      }),
      project('browser', { include: ['packages/dashboard/e2e/**/*.test.ts'], experimental: native }),
    ],
    maxWorkers: 4,
  },
});

function project(
  name: string,
  options: { include: string[]; exclude?: string[]; experimental?: typeof native },
) {
  return {
    test: {
      name,
      ...options,
      pool: 'forks' as const,
      isolate: false,
      setupFiles: ['packages/testkit/src/hermetic.ts'],
      // Limits that only a test that hangs reaches: a test waits for facts (packages/testkit/src/waiting.ts).
      testTimeout: 3 * WAIT_MS,
      hookTimeout: 3 * WAIT_MS,
      expect: { poll: { timeout: WAIT_MS, interval: 20 } },
    },
  };
}

import { expect, test } from 'vitest';
import type { HealthReport } from '../../shell/trust.ts';
import { firstSteps } from './first-run.tsx';

const health = (grades: string[]): HealthReport => ({
  status: 'ok',
  version: '0.1.0',
  now: '',
  startedAt: '',
  configuration: { folders: [], problems: [] },
  sources: { tunnels: grades.map((grade) => ({ grade, feeds: ['codehost'] })), codehost: {}, tracker: {} },
});

test.each([
  [['disabled', 'disabled'], { workers: 0, runs: 0 }, [true, false, false]],
  [['live', 'disabled'], { workers: 0, runs: 0 }, [true, true, false]],
  // The setup is done; the trust bar shows that the feed is blind.
  [['blind'], { workers: 0, runs: 0 }, [true, true, false]],
  [['disabled'], { workers: 0, runs: 1 }, [true, false, true]],
  [[], { workers: 2, runs: 0 }, [true, false, true]],
])('feeds %j with %j', (grades, work, done) =>
  expect(firstSteps(health(grades), work).map((step) => step.done)).toEqual(done),
);

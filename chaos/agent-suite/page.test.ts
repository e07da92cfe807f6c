import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hookedAgents } from '../../packages/monitor/src/features/sessions/hook-event.ts';
import { agentsPage, type HooksResult, type SuiteResult } from './page.ts';
import { programs } from './programs.ts';

const read = (path: string): string => readFileSync(join(import.meta.dirname, path), 'utf8');
const result = JSON.parse(read('results.json')) as SuiteResult;
const hooks = JSON.parse(read('hook-results.json')) as HooksResult;

test('docs/tested-agents.md is what the last run of the suite wrote', () => {
  expect(read('../../docs/tested-agents.md'), 'Run: npm run agents:suite -- --write').toBe(
    agentsPage(result, hooks),
  );
});

test('every agent that has hooks was tried with them', () => {
  expect(hooks.agents.map(({ name }) => name)).toEqual([...hookedAgents]);
});

test('the last run tried the built-in agents in their current versions', () => {
  const tried = result.agents.map(({ name, version }) => `${name}@${version}`);
  expect(tried, 'Run: npm run agents:suite -- --write').toEqual(
    programs.map(({ name, version }) => `${name}@${version}`),
  );
});

// The rules in docs/guide/rules.md are valid rules.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createJqThreads } from '../../kernel/log/jq-threads.ts';
import { resolveConfig } from '../configure.ts';
import { topics } from '../topics.ts';
import { filterProblems } from './io/back-test.ts';
import { placeholders } from './rules.ts';

const page = readFileSync(join(import.meta.dirname, '../../../../../docs/guide/rules.md'), 'utf8');
const examples = [...page.matchAll(/^```json\n(.*?)^```/gms)].map(([, text = '']) => text);

test('each example is a valid configuration, with valid jq filters', async () => {
  expect(examples).toHaveLength(3);
  const jq = createJqThreads({ topics });
  onTestFinished(jq.close);
  for (const text of examples) {
    const file = {
      path: 'rules.md',
      layers: ['global'],
      reads: ['global'],
      lineOf: () => undefined,
    } as const;
    const { config, problems } = resolveConfig([{ ...file, data: JSON.parse(text) }], {});
    expect(problems).toEqual([]);
    expect(await filterProblems(config?.svc.rules ?? [], jq.matches)).toEqual([]);
  }
});

test('every placeholder for a message is documented, and every topic it names exists', () => {
  for (const name of placeholders) expect(page).toContain(`\`{${name}}\``);
  for (const [, topic = ''] of page.matchAll(/`(workflow\.rule\.\w+)`/g))
    expect(topics.names).toContain(topic);
});

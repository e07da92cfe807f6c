import { expect, test } from 'vitest';
import { reasonWords } from './inbox.ts';

test.each([
  ['worker-dead', 'The worker’s process is gone'],
  ['of-its-own', 'Of its own'],
  ['constructor', 'Constructor'],
  ['', ''],
])('%s', (reason, words) => expect(reasonWords(reason)).toBe(words));

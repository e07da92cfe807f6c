import { expect, test } from 'vitest';
import { reasonWords } from './inbox.ts';

test.each([
  ['worker-dead', 'Worker process exited'],
  ['low-disk', 'Low disk'],
  ['constructor', 'Constructor'],
  ['', ''],
])('%s', (reason, words) => expect(reasonWords(reason)).toBe(words));

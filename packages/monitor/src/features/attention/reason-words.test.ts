import { expect, test } from 'vitest';
import { reasonWords } from './reason-words.ts';

test.each([
  ['worker-dead', 'Agent process exited'],
  ['agent-needs-permission', 'Agent needs a permission'],
  ['agent-needs-input', 'Agent has a question'],
  ['agent-stopped', 'Agent stopped before its work was done'],
  ['dispatch-refused', 'Run was not started'],
  ['policy-relaxed-acme-web', 'Deployments no longer required'],
  ['rule-big-diff', 'Rule big diff'],
  ['low-disk', 'Low disk'],
  ['constructor', 'Constructor'],
  ['', ''],
])('%s', (reason, words) => expect(reasonWords(reason)).toBe(words));

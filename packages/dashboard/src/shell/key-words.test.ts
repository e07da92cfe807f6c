import { expect, test } from 'vitest';
import { type KeyMeaning, type KeyPress, meaningOfKey } from './keys.tsx';

const plain = { ctrlKey: false, metaKey: false, altKey: false };
const atRest = { isGoing: false, inField: false };

test.each<[string, Partial<KeyPress> & { key: string }, Partial<typeof atRest>, KeyMeaning | null]>([
  ['Ctrl K', { key: 'k', ctrlKey: true }, {}, { kind: 'palette' }],
  ['Command K', { key: 'k', metaKey: true }, {}, { kind: 'palette' }],
  ['Ctrl K in a field', { key: 'k', ctrlKey: true }, { inField: true }, { kind: 'palette' }],
  ['k alone', { key: 'k' }, {}, null],
  ['?', { key: '?' }, {}, { kind: 'key-map' }],
  ['? in a field', { key: '?' }, { inField: true }, null],
  ['n', { key: 'n' }, {}, { kind: 'new-task' }],
  ['n in a field', { key: 'n' }, { inField: true }, null],
  ['g', { key: 'g' }, {}, { kind: 'go' }],
  ['g in a field', { key: 'g' }, { inField: true }, null],
  ['g with Ctrl', { key: 'g', ctrlKey: true }, {}, null],
  ['g then a', { key: 'a' }, { isGoing: true }, { kind: 'to', to: '/attention' }],
  ['g then h', { key: 'h' }, { isGoing: true }, { kind: 'to', to: '/' }],
  ['g then an unknown key', { key: 'z' }, { isGoing: true }, null],
])('%s', (_what, press, state, meaning) =>
  expect(meaningOfKey({ ...plain, ...press }, { ...atRest, ...state })).toEqual(meaning),
);

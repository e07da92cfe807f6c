import { expect, test } from 'vitest';
import { thoughtsPlace } from '../workflow-context.ts';

const facts = { repository: { org: 'acme', name: 'web' }, thoughts: {}, folderName: 'checkout' };

test('the store depends on profile and directory; the user has a part of it', () => {
  const folders = ['shared/research', 'shared/plans', 'shared/handoffs', 'shared/prs'];
  expect(thoughtsPlace(facts)).toEqual({ ok: true, store: 'acme/web', parts: ['shared'], folders });
  const thoughts = { user: 'kim lee', directory: 'apps/web', profile: 'work' };
  expect(thoughtsPlace({ ...facts, thoughts })).toEqual({
    ok: true,
    store: 'work/apps/web',
    parts: ['shared', 'kim lee'],
    folders: [...folders, 'kim lee'],
  });
});

test.each([
  ['user', '../kim'],
  ['user', '..'],
  ['user', ''],
  ['user', '.gitignore'],
  ['user', 'shared'],
  ['profile', 'a/b'],
  ['profile', '..'],
  ['directory', '../web'],
  ['directory', 'apps/../../web'],
  ['directory', '/etc'],
  ['directory', 'a//b'],
  ['directory', 'a\nb'],
])('svc.thoughts.%s %j is not a folder in the store', (key, value) => {
  const thoughts = { [key]: value };
  expect(thoughtsPlace({ ...facts, thoughts })).toEqual({ ok: false, key: `svc.thoughts.${key}`, value });
});

test('a checkout of any name has a store', () => {
  const bare = { repository: {}, thoughts: {}, folderName: '.my files' };
  expect(thoughtsPlace(bare)).toMatchObject({ ok: true, store: 'default/.my files' });
});

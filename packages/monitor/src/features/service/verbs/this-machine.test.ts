import { userInfo } from 'node:os';
import { expect, test } from 'vitest';
import { thisMachine } from './service.ts';

/** As Node fails where the user has no entry in the list of users. */
const noEntry = (): never => {
  throw Object.assign(new Error('A system error occurred: uv_os_get_passwd returned ENOENT'), {
    code: 'ERR_SYSTEM_ERROR',
  });
};

test('a user without a name is known by the number', () => {
  expect(thisMachine()).toMatchObject({ uid: userInfo().uid, user: userInfo().username });
  const uid = process.getuid?.() ?? -1;
  expect(thisMachine(noEntry)).toMatchObject({ uid, user: String(uid) });
});

test('another error is not hidden', () => {
  const broken = (): never => {
    throw new TypeError('broken');
  };
  expect(() => thisMachine(broken)).toThrow('broken');
});

// For tests of what is behind the access check.
import type { Access } from '../../access/access.ts';

export const answersEverybody: Pick<Access, 'refuseConnection' | 'refuseRequest'> = {
  refuseConnection: () => undefined,
  refuseRequest: () => undefined,
};

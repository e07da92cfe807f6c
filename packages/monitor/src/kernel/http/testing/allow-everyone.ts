// For tests of routes behind the access check.
import type { Access } from '../../access/access.ts';

export const allowEveryone: Pick<Access, 'refuseConnection' | 'refuseRequest'> = {
  refuseConnection: () => undefined,
  refuseRequest: () => undefined,
};

// Which keys of notifications belong together.
import type { ConfigPart } from '../../kernel/config/configuration.ts';
import { allOrNone } from '../../kernel/config/problems.ts';

export const attentionConfig: ConfigPart = {
  check: allOrNone(['svc.notify.quietHours.from', 'svc.notify.quietHours.to']),
};

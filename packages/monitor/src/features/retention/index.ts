// Removes old data by the policy, in the daemon.
import { system } from '@svc/lib/system';
import { boardOf } from '../../kernel/board/state-access.ts';
import type { OpenFeature } from '../../kernel/feature.ts';
import { createRetention } from './io/retention-service.ts';
import { retentionRoutes } from './routes.ts';

export const openRetention: OpenFeature = ({ machineWide, state, live, ...parts }) => {
  const retention = createRetention({
    ...parts,
    config: machineWide,
    board: () => boardOf(state),
    folders: () => live.current().folders,
    processStarts: system.processStarts,
  });
  return { ...retention, routes: retentionRoutes(retention) };
};

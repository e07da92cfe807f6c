// The kinds of effects of every feature.
import type { EffectKinds } from '../kernel/outbox/effect.ts';
import { attentionEffects } from './attention/effect-kinds.ts';
import { deployEffectKinds } from './deploy/effect-kinds.ts';
import { pullRequestEffects } from './pull-requests/effect-kinds.ts';
import { reactionEffects } from './reactions/effect-kinds.ts';
import { ruleEffects } from './rules/effect-kinds.ts';
import { runEffects } from './runs/effect-kinds.ts';
import { taskEffects } from './tasks/effect-kinds.ts';
import { teamEffects } from './team/effect-kinds.ts';
import { trackerEffects } from './tracker/effect-kinds.ts';
import { verifyEffects } from './verify/effect-kinds.ts';
import { workerEffects } from './workers/effect-kinds.ts';

export const effectKinds: EffectKinds = {
  append: {
    lane: 'local',
    // Raising and withdrawing items about one subject stays in order.
    orderKey: ({ draft: { scope } }) => `${scope.orchestrator ?? '-'}/${scope.ticket ?? scope.repo ?? '-'}`,
  },
  ...workerEffects,
  ...trackerEffects,
  ...pullRequestEffects,
  ...deployEffectKinds,
  ...verifyEffects,
  ...reactionEffects,
  ...runEffects,
  ...taskEffects,
  ...teamEffects,
  ...attentionEffects,
  ...ruleEffects,
};

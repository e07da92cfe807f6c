// "Did it ship?" has one answer, `isShipped`, and one receipt, `proofOf`. Code that compares the status of a worker by itself,
// sets it, or moves a ticket to done could give another answer: the files that may are listed here, each with its reason.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const packages = join(import.meta.dirname, '../../../..');

const rules: {
  what: string;
  pattern: RegExp;
  /** By file, below packages/. */
  allowed: Record<string, string>;
}[] = [
  {
    what: 'compares a status with done',
    // What an agent claims is no verdict.
    pattern: /(?<!claim\??\.)(?<![a-z])status\s*[!=]==\s*'done'|'done'\s*[!=]==\s*[\w.?]*status\b/gi,
    allowed: {
      'monitor/src/features/workers/status-groups.ts': 'isShipped itself',
      'monitor/src/features/deploy/lifecycle.ts': 'what a signal file claims',
    },
  },
  {
    what: 'has a list of statuses with done in it',
    pattern: /case 'done':|\[(?=[^\][]*'done')(?:\s*'[a-z-]+',?)+\s*\]/g,
    allowed: {
      'monitor/src/features/agents/schemas.ts': 'the verdicts of a verifier',
      'monitor/src/features/outbox/api.ts': 'how an effect ended',
      'monitor/src/features/deploy/lifecycle.ts': 'what a signal file may not claim',
      'monitor/src/features/verify/refutation.ts': 'the verdicts of a verifier',
      'monitor/src/features/runs/wave-standing.ts': 'what a signal file may not claim',
      'contract/src/worker-statuses.ts': 'the definition of all statuses',
      'monitor/src/features/deploy/claim.ts': 'merged or later',
      'monitor/src/features/board/board-columns.ts': 'the column of each status',
      'monitor/src/features/team/command.ts': 'how a command ended',
      'dashboard/src/screens/home/card.tsx': 'the marks of the steps',
      'dashboard/src/screens/run/run-timeline.tsx': 'which bars end',
    },
  },
  {
    what: 'makes a worker done',
    pattern: /\bstatus: 'done'/g,
    allowed: { 'monitor/src/features/deploy/lifecycle.ts': 'the lifecycle' },
  },
  {
    what: 'says that something shipped',
    pattern: /(?:[{,]|^)\s*shipped: (?!z\.|boolean|number)/gm,
    allowed: {
      'monitor/src/features/tickets/proof.ts': 'the proof',
      'monitor/src/features/why/why.ts': 'from the proof; of another machine, from its verdict',
    },
  },
  {
    what: 'moves a ticket',
    pattern: /\bmoveTicket\(/g,
    allowed: {
      'monitor/src/features/deploy/deploy-effects.ts': 'by the lifecycle',
      'monitor/src/features/tracker/move-ticket.ts': 'moveTicket itself',
      'monitor/src/features/tracker/fold-tickets.ts': 'by a phase, which is held without proof',
      'monitor/src/features/tickets/held-ticket.ts': 'by a phase that was held, with proof',
      'monitor/src/features/deploy/claim.ts': 'again, when another run is gone',
    },
  },
];

const sources = globSync('{contract,monitor,dashboard,demo,client}/src/**/*.{ts,tsx}', { cwd: packages })
  .filter((file) => !/\.test\.tsx?$|\/testing\//.test(file))
  .map((file) => ({ file, text: readFileSync(join(packages, file), 'utf8') }));

test.each(rules)('nothing else $what', ({ pattern, allowed }) => {
  const found = sources.filter(({ text }) => text.search(pattern) >= 0);
  expect(found.map(({ file }) => file).toSorted()).toEqual(Object.keys(allowed).toSorted());
});

// "Did it ship?" has one answer, `isShipped`, and one receipt, `proofOf`. Code that compares the status of a worker by itself,
// sets it, or moves a ticket to done could give another answer: the files that may are listed here, each with its reason.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const packages = join(import.meta.dirname, '../../..');

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
      'core/src/deploy/deploy-worker.ts': 'isShipped itself',
      'core/src/deploy/lifecycle.ts': 'what a signal file claims',
    },
  },
  {
    what: 'has a list of statuses with done in it',
    pattern: /case 'done':|\[(?=[^\][]*'done')(?:\s*'[a-z-]+',?)+\s*\]/g,
    allowed: {
      'core/src/agent/schemas.ts': 'the verdicts of a verifier',
      'core/src/api/outbox.ts': 'how an effect ended',
      'core/src/deploy/lifecycle.ts': 'what a signal file may not claim',
      'core/src/orchestrate/verify/refutation.ts': 'the verdicts of a verifier',
      'core/src/orchestrate/wave-standing.ts': 'what a signal file may not claim',
      'core/src/runs/worker-statuses.ts': 'the definition of all statuses',
      'core/src/state/fold-worker.ts': 'merged or later',
      'core/src/state/views/board-columns.ts': 'the column of each status',
      'core/src/team/command.ts': 'how a command ended',
      'dashboard/src/screens/home/card.tsx': 'the marks of the steps',
      'dashboard/src/screens/run/run-timeline.tsx': 'which bars end',
    },
  },
  {
    what: 'makes a worker done',
    pattern: /\bstatus: 'done'/g,
    allowed: { 'core/src/deploy/lifecycle.ts': 'the lifecycle' },
  },
  {
    what: 'says that something shipped',
    pattern: /(?:[{,]|^)\s*shipped: (?!z\.|boolean|number)/gm,
    allowed: {
      'core/src/state/views/proof.ts': 'the proof',
      'core/src/state/views/why.ts': 'from the proof; of another machine, from its verdict',
    },
  },
  {
    what: 'moves a ticket',
    pattern: /\bmoveTicket\(/g,
    allowed: {
      'core/src/state/deploy-effects.ts': 'by the lifecycle',
      'core/src/state/fold-tasks.ts': 'moveTicket itself',
      'core/src/state/fold-tickets.ts': 'by a phase, which is held without proof',
      'core/src/state/fold-worker.ts': 'again, when another run is gone',
    },
  },
];

const sources = globSync('{core,monitor,dashboard,demo,client}/src/**/*.{ts,tsx}', { cwd: packages })
  .filter((file) => !/\.test\.tsx?$|\/testing\//.test(file))
  .map((file) => ({ file, text: readFileSync(join(packages, file), 'utf8') }));

test.each(rules)('nothing else $what', ({ pattern, allowed }) => {
  const found = sources.filter(({ text }) => text.search(pattern) >= 0);
  expect(found.map(({ file }) => file).toSorted()).toEqual(Object.keys(allowed).toSorted());
});

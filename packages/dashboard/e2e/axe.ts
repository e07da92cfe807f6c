// What stands in the way of people who see, hear or press differently, as axe finds it.
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';

/** Serious and critical findings, one line each. A page of ours has no frames, and only what is wrong is told. */
export async function axeFindings(page: Page): Promise<string[]> {
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] });
  const { violations } = await axe.analyze();
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, impact, nodes }) =>
      nodes.map(({ target, failureSummary }) => {
        const why = failureSummary?.split('\n')[1]?.trim() ?? '';
        return `${impact} ${id}: ${target.join(' ')}: ${why}`;
      }),
    );
}

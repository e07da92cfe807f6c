// Accessibility problems, as found by axe.
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';

/**
 * Serious and critical findings, one line each. The pages have no frames, and only violations are reported. In a second
 * theme only the colours of a page differ.
 */
export async function axeFindings(page: Page, rules: 'all' | 'colours' = 'all'): Promise<string[]> {
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] });
  if (rules === 'colours') axe.withRules(['color-contrast', 'link-in-text-block']);
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

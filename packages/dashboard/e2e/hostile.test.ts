// A day on which every text from outside is an attack: none of it runs or becomes an element, and the screens stay
// readable.
import type { BoardView } from 'svc-monitor/src/features/board/api.ts';
import { describe, expect, it } from 'vitest';
import { PWNED } from '../../testkit/src/tape/hostile.ts';
import { sendCodehost } from '../../testkit/src/tape/send.ts';
import { sizes } from './chromium.ts';
import { overflow, screens, settled } from './screens.ts';
import { withTape } from './with-tape.ts';

const tape = withTape({ past: 'end', hostile: true });

/** What the attacks would leave behind if any were parsed as HTML or run. */
const traces = `(() => ({
  ran: window.${PWNED},
  frames: document.querySelectorAll('iframe, object, embed').length,
  pictures: document.querySelectorAll('img[src="x"]').length,
  base: document.querySelectorAll('base').length,
  scripts: [...document.querySelectorAll('script')].filter((script) => !script.src).length,
  styled: [...document.querySelectorAll('style')].some((style) => style.textContent.includes('display:none!important')),
  handlers: document.querySelectorAll('[onerror], [onload], [onclick]').length,
  links: [...document.querySelectorAll('[href], [src], [action], [formaction]')]
    .flatMap((element) => ['href', 'src', 'action', 'formaction'].map((name) => element.getAttribute(name)))
    .filter((address) => address !== null && /^\\s*(?:javascript|data|vbscript):/i.test(address)),
  hidden: document.querySelector('main') === null || getComputedStyle(document.body).display === 'none',
}))()`;

const nothing = {
  frames: 0,
  pictures: 0,
  base: 0,
  scripts: 0,
  styled: false,
  handlers: 0,
  links: [],
  hidden: false,
};

const own = ['/events?seq=120', '/events?ticket=TID-128', '/runs/run-guest-berths', '/?at=300', '/nowhere'];

describe('a hostile day', () => {
  it.each([...screens.map(({ path }) => path), ...own])('does nothing on %s', async (path) => {
    const { page, problems } = await tape.openAgain();
    await page.goto(tape.daemon().url + path);
    await page.locator('main').waitFor();
    await page.waitForFunction(() => (document.querySelector('main')?.textContent ?? '').length > 40);
    for (const size of [sizes.wide, sizes.narrow]) {
      await page.setViewportSize(size);
      await settled(page);
      // Tooltips contain text from outside too.
      const invisible = await page.evaluate(async () => {
        const found = new Set<string>();
        for (const link of [...document.querySelectorAll<HTMLElement>('main a[href]')].slice(0, 12)) {
          link.focus();
          for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
          const [shown] = /.{0,60}(?:\p{Cc}(?<!\n)|\p{Cf})/u.exec(document.body.textContent) ?? [];
          if (shown !== undefined) found.add(shown);
        }
        return [...found];
      });
      expect(invisible).toEqual([]);
      expect(await page.evaluate(traces)).toEqual(nothing);
      expect(await problems()).toEqual([]);
      expect(await overflow(page)).toBeLessThanOrEqual(0);
    }
  });

  it('writes out the hidden characters of a reviewer in what a card waits for', async () => {
    const { url } = tape.daemon();
    const boardNow = async () => (await (await fetch(`${url}/api/board`)).json()) as BoardView;
    const { workers, pullRequests } = await boardNow();
    const open = pullRequests.filter(({ state }) => state === 'open');
    const worker = workers.find(
      ({ repo, pr, waitsFor }) =>
        waitsFor?.includes('to be merged') &&
        open.some((one) => one.repo === repo && one.number === pr?.number),
    );
    const pullRequest = open.find(
      ({ repo, number }) => repo === worker?.repo && number === worker.pr?.number,
    );
    await sendCodehost(tape.daemon(), 'pull_request_review', {
      action: 'submitted',
      review: {
        state: 'changes_requested',
        user: { login: 'kim\u202Etxt' },
        commit_id: pullRequest?.headSha,
      },
      pull_request: { number: pullRequest?.number, head: { sha: pullRequest?.headSha } },
      repository: { full_name: pullRequest?.repo },
    });
    const waits = async () =>
      (await boardNow()).workers.find(({ ticket }) => ticket === worker?.ticket)?.waitsFor;
    await expect.poll(waits).toContain('changes requested by kim\u202Etxt');
    const { page } = await tape.open();
    await page.goto(url);
    await page.locator(`main a[href^="/tickets/${worker?.ticket}"]`).first().focus();
    const tip = page.getByRole('tooltip').filter({ hasText: 'Waiting for' });
    await tip.first().waitFor();
    expect(await tip.first().textContent()).toContain('changes requested by kim[U+202E]txt');
  });

  it('shows the attack as plain text', async () => {
    const { page } = await tape.open();
    await page.goto(tape.daemon().url);
    await page.locator('main a[href^="/tickets/"]').first().waitFor();
    expect(await page.locator('main').textContent()).toMatch(/<script>window|onerror=|javascript:/);
  });
});

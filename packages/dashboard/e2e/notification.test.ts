// A person who works in another tab: the browser's notification has the question, and leads to it.
import { expect, it } from 'vitest';
import { withTape } from './with-tape.ts';

const tape = withTape({ past: 'nothing' });

/**
 * Headless Chromium shows no notifications, and its pages always have the focus. So the page gets a constructor that keeps
 * what it was given, and the test says whether the person looks at the page.
 */
const recorder = `
  window.notified = [];
  window.isLookedAt = false;
  document.hasFocus = () => window.isLookedAt;
  window.Notification = class extends EventTarget {
    static permission = 'default';
    static async requestPermission() { return (this.permission = 'granted'); }
    constructor(title, { body, tag }) {
      super();
      window.notified.push({ title, body, tag, notification: this });
    }
    close() {}
  };
`;

type Notified = { title: string; body: string; tag: string };

it('notifies of a question once, only if that is switched on, and opens it with a click', async () => {
  const { url } = tape.daemon();
  const ask = async (ticket: string, message: string): Promise<void> => {
    const response = await fetch(`${url}/api/events`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        event: 'comms.attention',
        source: 'orchestrator',
        via: 'local',
        scope: { orchestrator: 'run-1', ticket },
        detail: { reason: 'question', severity: 'high', message },
      }),
    });
    expect(response.status).toBe(200);
  };
  const { page, problems } = await tape.open();
  await page.addInitScript(recorder);
  await page.goto(`${url}/attention`);
  const notified = (): Promise<Notified[]> =>
    page.evaluate('window.notified.map(({ title, body, tag }) => ({ title, body, tag }))');
  const isListed = (message: string) => page.getByText(message).first().waitFor();

  await ask('ENG-1', 'Which berths are for winter?');
  await isListed('Which berths are for winter?');
  expect(await notified()).toEqual([]);
  await page.getByRole('switch', { name: 'Notify me in this browser' }).check();
  await ask('ENG-2', 'Is \u202eecirp the price?');
  await expect.poll(notified).toEqual([
    {
      title: 'ENG-2: Question from an agent',
      body: 'Is [U+202E]ecirp the price?',
      tag: 'run-1/ENG-2/question',
    },
  ]);
  // Who looks at the page needs none.
  await page.evaluate('window.isLookedAt = true');
  await ask('ENG-3', 'Seen on the page?');
  await isListed('Seen on the page?');
  await page.evaluate('window.isLookedAt = false');
  await ask('ENG-4', 'Seen as a notification?');
  await expect
    .poll(async () => (await notified()).map(({ tag }) => tag))
    .toEqual(['run-1/ENG-2/question', 'run-1/ENG-4/question']);
  await page.evaluate("window.notified[0].notification.dispatchEvent(new Event('click'))");
  await expect.poll(() => new URL(page.url()).searchParams.get('id')).toBe('run-1/ENG-2/question');
  await page.getByRole('region', { name: 'Selected item' }).getByText('Is [U+202E]ecirp').waitFor();
  expect(await problems()).toEqual([]);
});

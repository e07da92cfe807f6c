// A real browser for tests, screenshots and the bench: Debian's Chromium, built without a window, which needs half the
// CPU time of the whole program; and pages that write down everything that must not happen on them.
import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page, type Request } from 'playwright-core';
import { WAIT_MS } from '../../testkit/src/waiting.ts';

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium-headless-shell';

const args = [
  '--no-sandbox',
  '--headless',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Whoever opens it closes it. It has a fresh profile, which goes with it. */
export function openChromium(more: readonly string[] = []): Promise<Browser> {
  if (!existsSync(executablePath))
    throw new Error(
      `There is no ${executablePath}; install Debian's package chromium-headless-shell, or name any Chromium in CHROMIUM`,
    );
  return chromium.launch({ executablePath, args: [...args, ...more], timeout: WAIT_MS });
}

export const themes = ['light', 'dark'] as const;
export type Theme = (typeof themes)[number];
export const sizes = {
  wide: { width: 1280, height: 800 },
  narrow: { width: 390, height: 844 },
} as const;
export type Size = keyof typeof sizes;

export type WatchedPage = {
  page: Page;
  /** What must not happen: errors in the console, exceptions, refused content, requests to elsewhere, dialogs. */
  problems: () => Promise<string[]>;
  close: () => Promise<void>;
};

/** The browser says it of an answer that the page itself handles, and cannot be told not to. */
const saidOfAnswers = /^Failed to load resource: (?:the server responded with a status of|net::ERR_)/;

/** Runs in the page, before anything of its own. */
const watchPolicy = `
  window.policyViolations = [];
  document.addEventListener('securitypolicyviolation', (event) => {
    window.policyViolations.push(event.effectiveDirective + ': ' + event.blockedURI);
  });
`;

/** In a context of its own: nothing is remembered from one page to the next. */
export async function openPage(
  browser: Browser,
  given: {
    theme?: Theme;
    size?: Size;
    reducedMotion?: boolean;
    /** Answers that fail are expected: the daemon is away. */
    offline?: boolean;
    scale?: number;
  } = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({
    viewport: sizes[given.size ?? 'wide'],
    colorScheme: given.theme ?? 'light',
    reducedMotion: given.reducedMotion === true ? 'reduce' : 'no-preference',
    deviceScaleFactor: given.scale ?? 1,
    hasTouch: given.size === 'narrow',
    locale: 'en-GB',
    timezoneId: zoneOfEvening(),
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  context.setDefaultTimeout(WAIT_MS);
  const page = await context.newPage();
  watchRequests(page);
  const found: string[] = [];
  page.on('console', (message) => {
    if (message.type() !== 'error') return;
    if (given.offline === true && saidOfAnswers.test(message.text())) return;
    found.push(`console: ${message.text()} (${message.location().url})`);
  });
  page.on('pageerror', (error) => found.push(`exception: ${error.message}`));
  page.on('dialog', (dialog) => {
    found.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    if (!isOwn(request.url())) found.push(`request to elsewhere: ${request.url().slice(0, 200)}`);
  });
  await page.addInitScript(watchPolicy);
  return {
    page,
    async problems() {
      const refused = await page.evaluate<string[]>('window.policyViolations ?? []');
      return [...found, ...refused.map((text) => `refused by the policy: ${text}`)];
    },
    close: () => context.close(),
  };
}

type Traffic = {
  /** Requests that the page has made so far. */
  made: number;
  /** Those that are not answered yet; the stream of event lines never ends, and is left out. */
  underWay: Set<Request>;
};

const trafficOf = new WeakMap<Page, Traffic>();

function watchRequests(page: Page): void {
  const seen: Traffic = { made: 0, underWay: new Set() };
  trafficOf.set(page, seen);
  page.on('request', (request) => {
    if (new URL(request.url()).pathname === '/api/events/stream') return;
    seen.made += 1;
    seen.underWay.add(request);
  });
  page.on('requestfinished', (request) => void seen.underWay.delete(request));
  page.on('requestfailed', (request) => void seen.underWay.delete(request));
}

/** Of a page of `openPage`. */
export function traffic(page: Page): Traffic {
  const found = trafficOf.get(page);
  if (found === undefined) throw new Error('this page was not opened by openPage');
  return found;
}

/** Where it is about half past five in the afternoon now: the tape's day is over, and all of it was today. */
function zoneOfEvening(): string {
  const ahead = 17 - new Date().getUTCHours();
  const offset = ahead > 14 ? ahead - 24 : ahead;
  // The names of these zones count the other way round.
  return offset === 0 ? 'Etc/GMT' : `Etc/GMT${offset > 0 ? '-' : '+'}${Math.abs(offset)}`;
}

function isOwn(text: string): boolean {
  const url = new URL(text);
  return url.protocol === 'data:' || url.protocol === 'blob:' || url.hostname === '127.0.0.1';
}

// A real browser for tests, screenshots and the bench: Debian's headless Chromium, which needs half the CPU time of the
// full one; and pages that record everything that must not happen on them.
import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page, type Request } from 'playwright-core';
import { WAIT_MS } from '../../testkit/src/waiting.ts';

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium-headless-shell';

const args = [
  '--no-sandbox',
  '--headless',
  '--disable-gpu',
  // Otherwise an emulated GPU draws, and a page whose drawing it does not confirm hangs forever, once in thousands of tests.
  '--disable-software-rasterizer',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** The caller closes it. It has a fresh profile, which is removed with it. */
export function openChromium(more: readonly string[] = []): Promise<Browser> {
  if (!existsSync(executablePath))
    throw new Error(
      `${executablePath} does not exist; install Debian's package chromium-headless-shell, or set CHROMIUM to any Chromium`,
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
  /** Console errors, exceptions, blocked content, requests to other hosts, and dialogs, since the last call. */
  problems: () => Promise<string[]>;
  close: () => Promise<void>;
};

/** The browser always logs failed responses, also those that the page handles. */
const failedResponse = /^Failed to load resource: (?:the server responded with a status of|net::ERR_)/;

/** Runs in the page, before its own scripts. */
const watchPolicy = `
  window.policyViolations = [];
  document.addEventListener('securitypolicyviolation', (event) => {
    window.policyViolations.push(event.effectiveDirective + ': ' + event.blockedURI);
  });
`;

/** In its own context: pages share no state. */
export async function openPage(
  browser: Browser,
  given: {
    theme?: Theme;
    size?: Size;
    reducedMotion?: boolean;
    /** Failed responses are expected because the daemon is stopped. */
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
    if (given.offline === true && failedResponse.test(message.text())) return;
    found.push(`console: ${message.text()} (${message.location().url})`);
  });
  page.on('pageerror', (error) => found.push(`exception: ${error.message}`));
  page.on('dialog', (dialog) => {
    found.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    if (!isOwn(request.url())) found.push(`request to another host: ${request.url().slice(0, 200)}`);
  });
  await page.addInitScript(watchPolicy);
  return {
    page,
    async problems() {
      const refused = await page.evaluate<string[]>('window.policyViolations?.splice(0) ?? []');
      return [...found.splice(0), ...refused.map((text) => `blocked by the policy: ${text}`)];
    },
    close: () => context.close(),
  };
}

type Traffic = {
  /** Requests that the page has made so far. */
  made: number;
  /** Requests without a response yet; streams never end and are left out. */
  underWay: Set<Request>;
};

const trafficOf = new WeakMap<Page, Traffic>();

function watchRequests(page: Page): void {
  const seen: Traffic = { made: 0, underWay: new Set() };
  trafficOf.set(page, seen);
  page.on('request', (request) => {
    if (new URL(request.url()).pathname.endsWith('/stream')) return;
    seen.made += 1;
    seen.underWay.add(request);
  });
  page.on('requestfinished', (request) => void seen.underWay.delete(request));
  page.on('requestfailed', (request) => void seen.underWay.delete(request));
}

/** The page must come from `openPage`. */
export function traffic(page: Page): Traffic {
  const found = trafficOf.get(page);
  if (found === undefined) throw new Error('this page was not opened by openPage');
  return found;
}

/** A zone in which it is about 17:30 now: the tape's day is over, and all of it was today. */
function zoneOfEvening(): string {
  const ahead = 17 - new Date().getUTCHours();
  const offset = ahead > 14 ? ahead - 24 : ahead;
  // The names of these zones have the opposite sign.
  return offset === 0 ? 'Etc/GMT' : `Etc/GMT${offset > 0 ? '-' : '+'}${Math.abs(offset)}`;
}

function isOwn(text: string): boolean {
  const url = new URL(text);
  return url.protocol === 'data:' || url.protocol === 'blob:' || url.hostname === '127.0.0.1';
}

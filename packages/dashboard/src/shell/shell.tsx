// What surrounds every screen: the trust bar, the navigation, and the notice that a past time is shown.
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import {
  Activity,
  Archive,
  BellDot,
  Ellipsis,
  History,
  LayoutGrid,
  type LucideIcon,
  ScrollText,
  SlidersHorizontal,
  Stethoscope,
  Waypoints,
} from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import { MomentProvider, useBoard, useNow } from '../live/live.tsx';
import { timeOfMoment } from '../live/moment.ts';
import { CopyButton } from '../parts/button.tsx';
import { classNames } from '../parts/class-names.ts';
import { clockWords, durationWords, exactWords } from '../parts/format.ts';
import { AnswerNotice } from './answer-notice.tsx';
import { Keys } from './keys.tsx';
import { linkTo, screenList } from './link-to.ts';
import { NeedsYou, useNeedsYou } from './needs-you.tsx';
import { TrustBar } from './trust-bar.tsx';

// The navigation: at the side, or at the bottom of a narrow page.

const screenIcons: Record<(typeof screenList)[number]['to'], LucideIcon> = {
  '/': LayoutGrid,
  '/attention': BellDot,
  '/runs': Waypoints,
  '/events': ScrollText,
  '/telemetry': Activity,
  '/archive': Archive,
  '/configuration': SlidersHorizontal,
  '/doctor': Stethoscope,
};

function Navigation() {
  const waiting = useNeedsYou();
  return (
    <nav
      aria-label="Screens"
      className="z-20 flex border-line bg-surface max-wide:fixed max-wide:inset-x-0 max-wide:bottom-0 max-wide:border-t wide:sticky wide:top-0 wide:h-dvh wide:w-44 wide:shrink-0 wide:flex-col wide:gap-0.5 wide:border-r wide:p-3"
    >
      <p className="px-2.5 pt-1 pb-4 text-lead font-semibold text-ink max-wide:hidden">svc</p>
      {screenList.map((screen) => {
        const Icon = screenIcons[screen.to];
        return (
          <Link
            key={screen.to}
            to={screen.to}
            activeOptions={{ exact: screen.to === '/', includeSearch: false }}
            activeProps={{ className: 'bg-sunken text-ink', 'aria-current': 'page' }}
            inactiveProps={{ className: 'text-muted hover:text-ink' }}
            className={classNames(
              'relative flex items-center gap-2.5 rounded-control text-small font-medium max-wide:h-14 max-wide:flex-1 max-wide:flex-col max-wide:justify-center max-wide:gap-0.5 max-wide:text-tiny wide:h-9 wide:px-2.5',
              !screen.narrow && 'max-wide:hidden',
            )}
          >
            <Icon aria-hidden="true" className="size-4 max-wide:size-5" />
            <span>{screen.name}</span>
            {screen.to === '/attention' && waiting > 0 && (
              <span className="rounded-full bg-you-soft px-1.5 text-tiny text-you max-wide:absolute max-wide:top-1 max-wide:left-1/2 max-wide:ml-1 wide:ml-auto">
                {waiting}
                <span className="sr-only"> waiting for you</span>
              </span>
            )}
          </Link>
        );
      })}
      <MoreScreens />
    </nav>
  );
}

/** The screens that have no place in the bottom bar of a narrow page. */
function MoreScreens() {
  const { pathname } = useLocation();
  const others = screenList.filter(({ narrow }) => !narrow);
  const isHere = others.some(({ to }) => pathname.startsWith(to));
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger
        className={classNames(
          'flex h-14 flex-1 flex-col items-center justify-center gap-0.5 rounded-control text-tiny font-medium wide:hidden',
          isHere ? 'bg-sunken text-ink' : 'text-muted hover:text-ink',
        )}
      >
        <Ellipsis aria-hidden="true" className="size-5" />
        More
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          side="top"
          align="end"
          sideOffset={8}
          collisionPadding={8}
          className="z-30 flex min-w-48 flex-col rounded-card border border-line bg-raised p-1.5 shadow-float wide:hidden"
        >
          {others.map(({ to, name }) => {
            const Icon = screenIcons[to];
            return (
              <DropdownMenu.Item key={to} asChild>
                <Link
                  to={to}
                  className="flex h-11 items-center gap-3 rounded-control px-3 text-small font-medium text-ink outline-none data-[highlighted]:bg-sunken"
                >
                  <Icon aria-hidden="true" className="size-5 text-muted" />
                  {name}
                </Link>
              </DropdownMenu.Item>
            );
          })}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

// Shown on every screen while a past time is viewed.

function PastBand() {
  const { board, moment, settling, failure } = useBoard();
  const { pathname, search } = useLocation();
  if (moment === null) return null;
  const time = timeOfMoment(settling ? null : moment, board.at);
  return (
    <div
      role="status"
      className="sticky top-0 z-20 flex flex-wrap items-center gap-x-4 gap-y-1 bg-ink px-6 py-1.5 text-small text-surface max-wide:px-4"
    >
      <History aria-hidden="true" className="size-4 shrink-0" />
      <span className="font-medium" title={time === null ? undefined : exactWords(time)}>
        {failure !== null ? `No board for ${moment}` : <PastWords time={time} />}
      </span>
      <span className="ml-auto flex items-center gap-1 [&_button:hover]:bg-transparent [&_button:hover]:underline [&_button]:text-surface">
        <CopyButton text={linkTo(pathname, search, time)} label="Copy link" />
        <Link
          to="."
          search={(before) => ({ ...before, at: undefined })}
          className="rounded-control border border-current px-2.5 py-1 font-medium hover:underline focus-visible:outline-surface"
        >
          Back to live
        </Link>
      </span>
    </div>
  );
}

/** Includes the date unless it is today. */
function PastWords({ time }: { time: number | null }) {
  const now = useNow();
  if (time === null) return 'Viewing history';
  return `Viewing history: ${clockWords(time, now)}, ${durationWords(now - time)} ago`;
}

export function Shell() {
  const { board, moment } = useBoard();
  const time = timeOfMoment(moment, board.at);
  return (
    <div className="flex min-h-dvh max-wide:flex-col">
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:absolute focus:z-30 focus:bg-surface focus:p-3"
      >
        Skip to content
      </a>
      <Keys />
      <NeedsYou />
      <Navigation />
      <div className="flex min-w-0 flex-1 flex-col">
        <TrustBar />
        <PastBand />
        <main
          id="content"
          tabIndex={-1}
          className="min-w-0 flex-1 p-6 outline-none max-wide:p-4 max-wide:pb-20"
        >
          <MomentProvider time={time}>
            <Outlet />
          </MomentProvider>
        </main>
        <AnswerNotice />
      </div>
    </div>
  );
}

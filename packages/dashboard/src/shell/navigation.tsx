// The way to every screen: at the side, or at the foot of a narrow page.
import { Link } from '@tanstack/react-router';
import {
  Activity,
  Archive,
  BellDot,
  LayoutGrid,
  type LucideIcon,
  ScrollText,
  SlidersHorizontal,
  Stethoscope,
  Waypoints,
} from 'lucide-react';
import { useLiveBoard, useNow } from '../live/live.tsx';
import { classNames } from '../parts/class-names.ts';
import { isWaiting } from '../screens/attention/is-waiting.ts';
import { places } from './places.ts';

const placeIcons: Record<(typeof places)[number]['to'], LucideIcon> = {
  '/': LayoutGrid,
  '/attention': BellDot,
  '/runs': Waypoints,
  '/events': ScrollText,
  '/telemetry': Activity,
  '/archive': Archive,
  '/configuration': SlidersHorizontal,
  '/doctor': Stethoscope,
};

export function Navigation() {
  const waiting = useWaiting();
  return (
    <nav
      aria-label="Screens"
      className="z-20 flex border-line bg-surface max-wide:fixed max-wide:inset-x-0 max-wide:bottom-0 max-wide:border-t wide:sticky wide:top-0 wide:h-dvh wide:w-44 wide:shrink-0 wide:flex-col wide:gap-0.5 wide:border-r wide:p-3"
    >
      <p className="px-2.5 pt-1 pb-4 text-lead font-semibold text-ink max-wide:hidden">svc</p>
      {places.map((place) => {
        const Icon = placeIcons[place.to];
        return (
          <Link
            key={place.to}
            to={place.to}
            activeOptions={{ exact: place.to === '/', includeSearch: false }}
            activeProps={{ className: 'bg-sunken text-ink', 'aria-current': 'page' }}
            inactiveProps={{ className: 'text-muted hover:text-ink' }}
            className={classNames(
              'relative flex items-center gap-2.5 rounded-control text-small font-medium max-wide:h-14 max-wide:flex-1 max-wide:flex-col max-wide:justify-center max-wide:gap-0.5 max-wide:text-tiny wide:h-9 wide:px-2.5',
              !place.narrow && 'max-wide:hidden',
            )}
          >
            <Icon aria-hidden="true" className="size-4 max-wide:size-5" />
            <span>{place.name}</span>
            {place.to === '/attention' && waiting > 0 && (
              <span className="rounded-full bg-you-soft px-1.5 text-tiny text-you max-wide:absolute max-wide:top-1 max-wide:left-1/2 max-wide:ml-1 wide:ml-auto">
                {waiting}
                <span className="sr-only"> wait for you</span>
              </span>
            )}
          </Link>
        );
      })}
    </nav>
  );
}

function useWaiting(): number {
  const { attention } = useLiveBoard();
  const now = useNow();
  return [...attention.values()].filter((item) => isWaiting(item, now)).length;
}

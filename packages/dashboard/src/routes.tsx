// The routes of the web app. A screen is loaded when first shown. Filters are in the URL, so a shared link shows the
// same.
import {
  createRootRoute,
  createRoute,
  createRouter,
  Link,
  lazyRouteComponent,
  retainSearchParams,
} from '@tanstack/react-router';
import { Empty } from './parts/states.tsx';
import { searchReader } from './shell/link-to.ts';
import { Shell } from './shell/shell.tsx';

const root = createRootRoute({
  component: Shell,
  notFoundComponent: NotFound,
  validateSearch: ({ view }: Record<string, unknown>): { view?: string | undefined } =>
    typeof view === 'string' ? { view } : {},
  // Whose board is shown stays the same on the way to another screen and back.
  search: { middlewares: [retainSearchParams(['view'])] },
});

const screens = [
  createRoute({
    getParentRoute: () => root,
    path: '/',
    validateSearch: searchReader('/'),
    component: lazyRouteComponent(() => import('./screens/home/home-screen.tsx'), 'HomeScreen'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/tickets/$ticket',
    validateSearch: searchReader('/tickets/$ticket'),
    component: lazyRouteComponent(() => import('./screens/ticket/ticket-screen.tsx'), 'TicketScreen'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/runs',
    validateSearch: searchReader('/runs'),
    component: lazyRouteComponent(() => import('./screens/runs/runs-screen.tsx'), 'RunsScreen'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/runs/$run',
    validateSearch: searchReader('/runs/$run'),
    component: lazyRouteComponent(() => import('./screens/run/run-screen.tsx'), 'RunScreen'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/attention',
    validateSearch: searchReader('/attention'),
    component: lazyRouteComponent(
      () => import('./screens/attention/attention-screen.tsx'),
      'AttentionScreen',
    ),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/events',
    validateSearch: searchReader('/events'),
    component: lazyRouteComponent(() => import('./screens/events/events-screen.tsx'), 'EventsScreen'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/telemetry',
    validateSearch: searchReader('/telemetry'),
    component: lazyRouteComponent(
      () => import('./screens/telemetry/telemetry-screen.tsx'),
      'TelemetryScreen',
    ),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/archive',
    validateSearch: searchReader('/archive'),
    component: lazyRouteComponent(() => import('./screens/archive/archive-screen.tsx'), 'ArchiveScreen'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/archive/$run',
    validateSearch: searchReader('/archive/$run'),
    component: lazyRouteComponent(
      () => import('./screens/archived-run/archived-run-screen.tsx'),
      'ArchivedRunScreen',
    ),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/configuration',
    validateSearch: searchReader('/configuration'),
    component: lazyRouteComponent(
      () => import('./screens/configuration/configuration-screen.tsx'),
      'ConfigurationScreen',
    ),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/doctor',
    validateSearch: searchReader('/doctor'),
    component: lazyRouteComponent(() => import('./screens/doctor/doctor-screen.tsx'), 'DoctorScreen'),
  }),
];

export const router = createRouter({
  routeTree: root.addChildren(screens),
  defaultPreload: 'intent',
  // Plain text in the URL instead of JSON: ?at=120&repo=acme/shop
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const given = Object.entries(search).flatMap(([name, value]) =>
      value === undefined || value === '' ? [] : [[name, String(value)]],
    );
    return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
  },
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

function NotFound() {
  return (
    <Empty title="Page not found.">
      <p>
        The link may be from another version of svc.{' '}
        <Link to="/" className="underline">
          Go to the board
        </Link>
        .
      </p>
    </Empty>
  );
}

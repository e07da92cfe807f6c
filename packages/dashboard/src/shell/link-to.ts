// The URLs of the screens, their search parameters, and links to the current view.
import { momentOf } from '../live/moment.ts';

/** The search parameters of each screen, besides `at` (the past time being viewed), which every screen has. */
const searchNames = {
  '/': ['view', 'machine', 'q', 'run', 'project', 'repo'],
  '/tickets/$ticket': ['run', 'machine'],
  '/runs': [],
  '/runs/$run': [],
  '/attention': ['view', 'machine', 'tab', 'id'],
  '/events': ['event', 'ticket', 'repo', 'pr', 'filter', 'seq', 'range'],
  '/telemetry': ['range'],
  '/archive': ['state'],
  '/archive/$run': [],
  '/configuration': ['project', 'text', 'only'],
  '/doctor': [],
} as const satisfies Record<string, readonly string[]>;

export type ScreenPath = keyof typeof searchNames;
type NameOf<Path extends ScreenPath> = 'at' | (typeof searchNames)[Path][number];
/** Any search parameter of any screen. */
export type SearchName = NameOf<ScreenPath>;
export type SearchOf<Path extends ScreenPath> = { [Name in NameOf<Path>]?: string | undefined };

/** Reads the parameters that the screen knows, as text; ignores all others. */
export function searchReader<Path extends ScreenPath>(path: Path) {
  const names: readonly string[] = ['at', ...searchNames[path]];
  return (search: Record<string, unknown>): SearchOf<Path> =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = search[name];
        return ['string', 'number', 'boolean'].includes(typeof value) ? [[name, String(value)]] : [];
      }),
    ) as SearchOf<Path>;
}

/** The target of a navigation: `screenAt('/tickets/$ticket', { run }, { ticket })`. */
export function screenAt<Path extends ScreenPath>(
  path: Path,
  search: SearchOf<Path> = {},
  params: Readonly<Record<string, string>> = {},
): { to: string; search: Record<string, string | undefined> } {
  return {
    to: path.replaceAll(/\$(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? '')),
    search,
  };
}

/**
 * The full URL of the current view, to share. A relative time such as `2h` would mean something else tomorrow, so it
 * is written as an absolute time.
 */
export function linkTo(pathname: string, search: Record<string, unknown>, time: number | null): string {
  const { at, ...others } = search;
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(others))
    if (typeof value === 'string' && value !== '') query.set(name, value);
  if (typeof at === 'string') query.set('at', /^\d+$/.test(at) || time === null ? at : momentOf(time));
  const text = query.toString();
  return `${globalThis.location?.origin ?? ''}${pathname}${text === '' ? '' : `?${text}`}`;
}

type ScreenEntry = { to: string; name: string; keys: readonly string[]; narrow: boolean };

/** `keys`: each of them goes there after `g`. `narrow`: shown in the bottom bar of a narrow page; the others are under More. */
export const screenList = [
  { to: '/', name: 'Board', keys: ['b', 'h'], narrow: true },
  { to: '/attention', name: 'Attention', keys: ['a'], narrow: true },
  { to: '/runs', name: 'Runs', keys: ['r'], narrow: true },
  { to: '/events', name: 'Events', keys: ['e'], narrow: true },
  { to: '/telemetry', name: 'Telemetry', keys: ['t'], narrow: true },
  { to: '/archive', name: 'Archive', keys: ['v'], narrow: false },
  { to: '/configuration', name: 'Configuration', keys: ['c'], narrow: false },
  { to: '/doctor', name: 'Doctor', keys: ['d'], narrow: false },
] as const satisfies readonly ScreenEntry[];

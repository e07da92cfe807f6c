// The addresses of the screens: what each may say, and a link to what is shown.
import { momentOf } from '../live/moment.ts';

/** What the address of a screen may say, besides `at`: the moment that is looked at, which every screen has. */
const searchNames = {
  '/': ['q', 'run', 'project', 'repo'],
  '/tickets/$ticket': ['run'],
  '/runs': [],
  '/runs/$run': [],
  '/attention': ['tab', 'id'],
  '/events': ['event', 'ticket', 'repo', 'pr', 'filter', 'seq', 'range'],
  '/telemetry': ['range'],
  '/archive': ['state'],
  '/archive/$run': [],
  '/configuration': ['project', 'text', 'only'],
  '/doctor': [],
} as const satisfies Record<string, readonly string[]>;

export type ScreenPath = keyof typeof searchNames;
type NameOf<Path extends ScreenPath> = 'at' | (typeof searchNames)[Path][number];
/** Any name that some screen has in its address. */
export type SearchName = NameOf<ScreenPath>;
export type SearchOf<Path extends ScreenPath> = { [Name in NameOf<Path>]?: string | undefined };

/** Everything in the address is text until a screen reads it; what is no text, or no name of the screen, is left out. */
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

/** A screen by its address, for what is chosen from a list: `screenAt('/tickets/$ticket', { run }, { ticket })`. */
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
 * The whole address of what is on the screen, for somebody else. A moment that is counted from now would be
 * another one tomorrow: it is written as the time that it was.
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

// The screens, by name and key.
type Place = { to: string; name: string; key: string; narrow: boolean };

/** `narrow`: it has a place at the foot of a narrow page; the others are reached through the palette. */
export const places = [
  { to: '/', name: 'Board', key: 'h', narrow: true },
  { to: '/attention', name: 'Attention', key: 'a', narrow: true },
  { to: '/runs', name: 'Runs', key: 'r', narrow: true },
  { to: '/events', name: 'Events', key: 'e', narrow: true },
  { to: '/telemetry', name: 'Telemetry', key: 't', narrow: true },
  { to: '/archive', name: 'Archive', key: 'v', narrow: false },
  { to: '/configuration', name: 'Configuration', key: 'c', narrow: false },
  { to: '/doctor', name: 'Doctor', key: 'd', narrow: false },
] as const satisfies readonly Place[];

import { momentOf } from '../live/moment.ts';

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

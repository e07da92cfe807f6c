// Names inside an archive. They come from a run's folder, where a worker may have made any, and they go back to the
// disk at a restore: none may lead out of the folder that it is restored to.
const LONGEST = 4_096;
/** Halves of a surrogate pair and the character that stands for bytes that are no UTF-8: such a name has no way back. */
const UNSPEAKABLE = /[\0\uFFFD]|\p{Surrogate}/u;

/** The lines of the run in the event log. */
export const EVENTS_PATH = 'events.jsonl';

/** `run/…`, `channels/…` or `events.jsonl`: relative, without steps up, of names that a disk can hold. */
export function isArchivePath(path: string): boolean {
  if (path === EVENTS_PATH) return true;
  if (path.length > LONGEST || UNSPEAKABLE.test(path)) return false;
  const [top, ...names] = path.split('/');
  if ((top !== 'run' && top !== 'channels') || names.length === 0) return false;
  return names.every((name) => name !== '' && name !== '.' && name !== '..');
}

// A merge is judged by the deploy policy at its line of the log. A file that was changed a moment ago is therefore read, and
// what it says is logged, before a merge is. What arrives meanwhile waits too, so the log keeps the order of arrival.
import type { LiveConfig } from '../../kernel/config/live.ts';
import type { EventDraft } from '../../kernel/log/event-line.ts';
import type { EventLog } from '../../kernel/log/event-log.ts';

/** `done` never rejects, so that all who wait continue in the order of arrival. */
type Look = { hasBegun: boolean; done: Promise<{ failure?: unknown }> };

export function readPolicyFirst(log: EventLog, live: Pick<LiveConfig, 'catchUp'>): EventLog {
  let newest: Look | undefined;

  /** A look at the files that has not begun: one that has may have read a file before it was changed. */
  function nextLook(): Look {
    if (newest !== undefined && !newest.hasBegun) return newest;
    const before = newest;
    const look = async (): Promise<{ failure?: unknown }> => {
      await before?.done;
      own.hasBegun = true;
      try {
        await live.catchUp();
        return {};
      } catch (failure) {
        return { failure };
      } finally {
        if (newest === own) newest = undefined;
      }
    };
    const own: Look = { hasBegun: false, done: Promise.resolve().then(look) };
    newest = own;
    return own;
  }

  return {
    ...log,
    async appendOnce(draft) {
      const needsPolicy = isMerge(draft);
      const look = needsPolicy ? nextLook() : newest;
      if (look !== undefined) {
        const result = await look.done;
        if (needsPolicy && 'failure' in result) throw result.failure;
      }
      return log.appendOnce(draft);
    },
  };
}

function isMerge({ event, detail }: EventDraft): boolean {
  return (
    event.startsWith('codehost.pr.') && (event.endsWith('.merged') || Reflect.get(detail, 'merged') === true)
  );
}

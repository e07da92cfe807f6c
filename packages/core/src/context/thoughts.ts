// The context store: documents of a project that outlive its worktrees (research, plans, handoffs). It is a folder by
// profile and directory; each worktree shows the parts of it that are everybody's and the user's own as `thoughts/`.
import { contextDirectory, contextProfile, type RepositoryFacts } from '../orchestrate/setup-variables.ts';
import { documentTypes } from './workflow-context.ts';

/** The part that is everybody's. */
export const SHARED = 'shared';

export type ThoughtsPlace =
  | {
      ok: true;
      /** Below the root of all stores: `<profile>/<directory>`. */
      store: string;
      /** The names under which its parts are in `thoughts/`. */
      parts: string[];
      /** What is made in it: `shared/plans`, …, `<user>`. */
      folders: string[];
    }
  | {
      ok: false;
      key: 'svc.thoughts.profile' | 'svc.thoughts.directory' | 'svc.thoughts.user';
      value: string;
    };

const oneFolder = /^(?!\.)[^/\\\p{Cc}]{1,120}$/u;
const someFolders = /^(?!\.{1,2}(?:\/|$))[^/\\\p{Cc}]{1,120}(?:\/(?!\.{1,2}(?:\/|$))[^/\\\p{Cc}]{1,120})*$/u;

export function thoughtsPlace(facts: RepositoryFacts): ThoughtsPlace {
  const { profile } = contextProfile(facts);
  const directory = contextDirectory(facts);
  const { user = null } = facts.thoughts;
  if (!oneFolder.test(profile)) return { ok: false, key: 'svc.thoughts.profile', value: profile };
  if (!someFolders.test(directory)) return { ok: false, key: 'svc.thoughts.directory', value: directory };
  if (user !== null && (!oneFolder.test(user) || user === SHARED))
    return { ok: false, key: 'svc.thoughts.user', value: user };
  const own = user === null ? [] : [user];
  return {
    ok: true,
    store: `${profile}/${directory}`,
    parts: [SHARED, ...own],
    folders: [...documentTypes.map((type) => `${SHARED}/${type}`), ...own],
  };
}

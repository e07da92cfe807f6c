// One thing that the REST API of a repository does, and what it is given to do it.
import type { JsonObject } from '../payloads/example.ts';
import type { Answer } from './answer.ts';
import type { RepoRow } from './records.ts';

export type Call = {
  repo: RepoRow;
  /** What the groups of the route's path matched. */
  parts: (string | undefined)[];
  url: URL;
  body: JsonObject;
  /** The address of the API, for the addresses in answers. */
  base: string;
};

export type Route = {
  method: string;
  /** Behind `repos/:owner/:repo/`. */
  path: RegExp;
  /** `hooks` are for admins with the scope for them, the rest for everybody who sees the repository. */
  needs: 'hooks' | 'read';
  answer: (call: Call) => Answer | Promise<Answer>;
};

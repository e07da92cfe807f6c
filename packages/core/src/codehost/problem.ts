// Why the code host could not be asked or did not do it: kinds that a caller can act on, and for each what a
// person reads and what mends it. Times are milliseconds of this machine's clock.

export type CodehostProblem =
  /** The client program is not there or cannot be started. */
  | { kind: 'gh-missing'; message: string }
  /** No token, or one that the code host does not accept. */
  | { kind: 'logged-out'; message: string }
  /** The token is right but may not do this; `scope` is the one that it lacks, where that is the reason. */
  | { kind: 'no-admin'; message: string; scope?: string }
  | { kind: 'repo-gone'; message: string }
  /** There is no such thing, or the token may not see it. */
  | { kind: 'not-found'; message: string }
  /** The code host said no for another reason, in its own words. */
  | { kind: 'refused'; status: number; message: string }
  /** No answer, or one that says that the server is in trouble. A change may or may not have been made. */
  | { kind: 'unavailable'; message: string }
  /** `resource` is the quota that is used up; without it the code host asks for a pause from everything. */
  | { kind: 'rate-limited'; message: string; until: number; resource?: string }
  /** Not asked: our own budget says that it is not the time; `isFailing` when calls before it got no answer. */
  | { kind: 'throttled'; message: string; until: number; isFailing?: boolean }
  /** An answer that is not what the API promises. */
  | { kind: 'malformed'; message: string };

export type CodehostProblemWords = { code: string; why: string; remedy: string };

const BY_ITSELF = 'Nothing to do: it is tried again by itself.';
/** The code host may be down, and gh itself may hang or print nonsense. */
const CHECK_GH = 'If it stays so, see whether gh works here: gh api user';
const ASK_GH = `It is tried again by itself. ${CHECK_GH}`;

/** `{ code, why, remedy }` for a log, a report or a screen; `code` is the kind. */
export function codehostProblemWords(problem: CodehostProblem): CodehostProblemWords {
  const { why, remedy } = wordsFor(problem);
  return { code: problem.kind, why, remedy };
}

function wordsFor(problem: CodehostProblem): { why: string; remedy: string } {
  const { message } = problem;
  switch (problem.kind) {
    case 'gh-missing':
      return {
        why: `the client gh cannot be started (${message})`,
        remedy: 'Install gh, then run: gh auth login -s admin:repo_hook && svc-monitor.sh restart',
      };
    case 'logged-out':
      return {
        why: `gh is not logged in at the code host (${message})`,
        remedy: 'Run: gh auth login -s admin:repo_hook',
      };
    case 'no-admin':
      return problem.scope === undefined
        ? {
            why: `gh's user has no admin access (${message})`,
            remedy: 'Ask for admin access to the repository; until then it is polled.',
          }
        : {
            why: `the token of gh lacks the scope ${problem.scope} (${message})`,
            remedy: `Run: gh auth refresh -s ${problem.scope}`,
          };
    case 'repo-gone':
      return {
        why: `the repository does not exist or is hidden (${message})`,
        remedy: 'Correct the name: svc config explain svc.monitor.github.watchRepos',
      };
    case 'not-found':
      return { why: `the code host has no such thing (${message})`, remedy: BY_ITSELF };
    case 'refused':
      return { why: `the code host refused: ${message}`, remedy: 'See: svc monitor logs' };
    case 'unavailable':
      return { why: `the code host cannot be reached or is in trouble (${message})`, remedy: ASK_GH };
    case 'rate-limited':
      return { why: `the quota of the code host is used up (${message})`, remedy: goesOnAt(problem.until) };
    case 'throttled':
      return {
        why: `the budget for calls does not allow it now (${message})`,
        remedy:
          problem.isFailing === true
            ? `It is tried again by itself at ${new Date(problem.until).toISOString()}. ${CHECK_GH}`
            : goesOnAt(problem.until),
      };
    case 'malformed':
      return { why: `the answer cannot be understood (${message})`, remedy: ASK_GH };
  }
}

function goesOnAt(until: number): string {
  return `Nothing to do: it goes on by itself at ${new Date(until).toISOString()}.`;
}

/** Whether a later attempt may succeed without anybody doing anything. */
export function passesByItself({ kind }: CodehostProblem): boolean {
  return kind === 'unavailable' || kind === 'rate-limited' || kind === 'throttled' || kind === 'malformed';
}

// Why a call to the code host failed: kinds that a caller can act on, each with a message and a fix. Times are
// milliseconds on this machine's clock.

export type CodehostProblem =
  /** The client program is missing or cannot be started. */
  | { kind: 'gh-missing'; message: string }
  /** No token, or one that the code host does not accept. */
  | { kind: 'logged-out'; message: string }
  /** The token is valid but not allowed to do this; `scope` is the missing one, if that is the reason. */
  | { kind: 'no-admin'; message: string; scope?: string }
  | { kind: 'repo-gone'; message: string }
  /** It does not exist, or the token may not see it. */
  | { kind: 'not-found'; message: string }
  /** The code host rejected the call for another reason, in `message`. */
  | { kind: 'refused'; status: number; message: string }
  /** No answer, or a server error. A change may or may not have been made. */
  | { kind: 'unavailable'; message: string }
  /** `resource` is the used-up quota; without it the code host asks for a pause of all calls. */
  | { kind: 'rate-limited'; message: string; until: number; resource?: string }
  /** Not called, because our own budget does not allow it now; `isFailing` if earlier calls got no answer. */
  | { kind: 'throttled'; message: string; until: number; isFailing?: boolean }
  /** An answer that does not match the API's documentation. */
  | { kind: 'malformed'; message: string };

export type CodehostProblemWords = { code: string; why: string; remedy: string };

const BY_ITSELF = 'Nothing to do: it is retried automatically.';
/** The code host may be down, or gh itself may hang or print garbage. */
const CHECK_GH = 'If the problem persists, check that gh works: gh api user';
const ASK_GH = `It is retried automatically. ${CHECK_GH}`;

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
        remedy: 'Install gh, then run: gh auth login -s admin:repo_hook && svc monitor restart',
      };
    case 'logged-out':
      return {
        why: `gh is not logged in to the code host (${message})`,
        remedy: 'Run: gh auth login -s admin:repo_hook',
      };
    case 'no-admin':
      return problem.scope === undefined
        ? {
            why: `the user of gh has no admin access (${message})`,
            remedy: 'Get admin access to the repository; until then it is polled.',
          }
        : {
            why: `the token of gh lacks the scope ${problem.scope} (${message})`,
            remedy: `Run: gh auth refresh -s ${problem.scope}`,
          };
    case 'repo-gone':
      return {
        why: `the repository does not exist or is not visible to gh (${message})`,
        remedy: 'Correct the name: svc config explain svc.monitor.github.watchRepos',
      };
    case 'not-found':
      return { why: `the code host could not find it (${message})`, remedy: BY_ITSELF };
    case 'refused':
      return { why: `the code host rejected the call: ${message}`, remedy: 'See: svc monitor logs' };
    case 'unavailable':
      return { why: `the code host cannot be reached or has an outage (${message})`, remedy: ASK_GH };
    case 'rate-limited':
      return { why: `the code host's API quota is used up (${message})`, remedy: continuesAt(problem.until) };
    case 'throttled':
      return {
        why: `calls to the code host are paused (${message})`,
        remedy:
          problem.isFailing === true
            ? `It is retried automatically at ${new Date(problem.until).toISOString()}. ${CHECK_GH}`
            : continuesAt(problem.until),
      };
    case 'malformed':
      return { why: `the answer cannot be understood (${message})`, remedy: ASK_GH };
  }
}

function continuesAt(until: number): string {
  return `Nothing to do: it continues automatically at ${new Date(until).toISOString()}.`;
}

/** Whether a later attempt may succeed without any action. */
export function passesByItself({ kind }: CodehostProblem): boolean {
  return kind === 'unavailable' || kind === 'rate-limited' || kind === 'throttled' || kind === 'malformed';
}

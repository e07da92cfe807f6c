// Tells of a pull request: pushes, checks, reviews, threads, its merge or its end.
import * as codehost from './codehost-payloads.ts';
import type { Person, PlannedTicket } from './product.ts';
import { colleagueOf, hexOf, type Told, tellInto } from './told.ts';
import type { WorkTeller } from './work-teller.ts';

/** Its branch is called so from the beginning. */
export function branchOf({ voice }: Told, { ticket, title }: PlannedTicket): string {
  return voice.branch(branchNamed(ticket, title));
}

/** `branchNamed('TID-7', 'Show the depth of each berth')` is `tid-7-show-the-depth-of`. */
export function branchNamed(ticket: string, title: string): string {
  const words = title.toLowerCase().split(/[^a-z]+/, 4);
  return `${ticket.toLowerCase()}-${words.join('-')}`;
}

export function createPullRequestTeller(told: Told, planned: PlannedTicket, work: WorkTeller) {
  const { random, voice, timeOf } = told;
  const { ticket, repo, pr: number } = planned;
  const author = voice.login(planned.person);
  const change: codehost.Change = {
    repo,
    number,
    title: voice.title(`${ticket}: ${planned.title}`),
    branch: branchOf(told, planned),
    author,
    labels: [voice.label(repo.endsWith('web') ? 'web' : 'api'), voice.label('agent')],
    openedAt: () => new Date(0),
    headSha: hexOf(random, 40),
    draft: false,
    mergeableState: 'unknown',
    merge: null,
    closedAt: null,
  };
  const tell = tellInto(told);
  /** The change as it is now, also when the payload is made later. */
  const now = (): codehost.Change => ({ ...change });
  const delivered = (at: number, type: string, payload: (at: Date) => object, found = false): void =>
    tell(at, { way: 'codehost', type, payload: (date) => ({ ...payload(date) }), ...(found && { found }) });
  const reviewer = (): Person => colleagueOf(told, planned);

  function checks(at: number, app: string, conclusion: string | null, found = false): void {
    const id = 7_000_000 + number * 10 + app.length;
    const of = now();
    const named = voice.label(app);
    delivered(
      at,
      'check_suite',
      (date) => codehost.checkSuitePayload(of, { id, app: named, conclusion }, date),
      found,
    );
  }

  return {
    checks,
    delivered,
    mergeSha: (): string => change.merge?.sha ?? '',
    opens(at: number, { draft = false, found = false } = {}): void {
      change.openedAt = () => timeOf(at);
      change.draft = draft;
      const of = now();
      delivered(at - 0.2, 'push', (date) =>
        codehost.pushPayload(of, change.branch, of.headSha, date, voice.title(planned.title)),
      );
      delivered(at, 'pull_request', (date) => codehost.pullRequestPayload(of, 'opened', date, author), found);
      work.works(at + 0.3, 'pr-created', () => ({
        pr: {
          number,
          url: codehost.pullRequestUrl(repo, number),
          state: 'open',
          isDraft: draft,
          openedAt: timeOf(at).toISOString(),
        },
      }));
      work.moves(at + 0.5, 'In Review');
    },
    pushes(at: number, message: string): void {
      change.headSha = hexOf(random, 40);
      const of = now();
      delivered(at, 'push', (date) =>
        codehost.pushPayload(of, change.branch, of.headSha, date, voice.title(message)),
      );
      delivered(at + 0.05, 'pull_request', (date) =>
        codehost.pullRequestPayload(of, 'synchronize', date, author),
      );
    },
    status(at: number, context: string, state: string, description: string): void {
      const of = now();
      const url = voice.url(`https://ci.example/${repo}/runs/${number}`);
      const check = { context: voice.label(context), state, description: voice.comment(description), url };
      delivered(at, 'status', (date) => codehost.statusPayload(of, check, date));
    },
    passes(at: number, found = false): void {
      if (!found) checks(at, 'build', null);
      checks(at + 3, 'build', 'success', found);
      if (!found) checks(at + 4, 'browser-tests', 'success');
      change.mergeableState = 'clean';
    },
    reviews(at: number, state: string, body: string, by: Person = reviewer()): void {
      const of = now();
      const review = {
        id: number * 100 + (Math.floor(Math.abs(at)) % 100),
        state,
        by: voice.login(by),
        body: voice.comment(body),
      };
      delivered(at, 'pull_request_review', (date) => codehost.reviewPayload(of, review, date));
    },
    thread(at: number, index: number, body: string, resolved: boolean): void {
      const of = now();
      const by = voice.login(reviewer());
      const path = repo.endsWith('web') ? 'src/berths/map-view.tsx' : 'src/stays/refund.ts';
      const id = `PRRT_${number}_${index}`;
      const comment = {
        id: number * 1_000 + index,
        by,
        body: voice.comment(body),
        path,
        line: 20 + index * 14,
      };
      if (!resolved)
        delivered(at, 'pull_request_review_comment', (date) =>
          codehost.reviewCommentPayload(of, comment, date),
        );
      const thread = { id, resolved, by, path, line: comment.line };
      delivered(at + 0.1, 'pull_request_review_thread', (date) =>
        codehost.reviewThreadPayload(of, thread, date),
      );
    },
    says(at: number, by: string, body: string): void {
      const of = now();
      const comment = {
        id: number * 500 + Math.floor(Math.abs(at)),
        by: voice.login(by),
        body: voice.comment(body),
      };
      delivered(at, 'issue_comment', (date) => codehost.conversationPayload(of, comment, date));
    },
    merges(at: number, { by = reviewer(), found = false }: { by?: Person; found?: boolean } = {}): void {
      change.merge = { sha: hexOf(random, 40), at: () => timeOf(at), by: voice.login(by) };
      const of = now();
      delivered(
        at,
        'pull_request',
        (date) => codehost.pullRequestPayload(of, 'closed', date, voice.login(by)),
        found,
      );
      delivered(at + 0.1, 'push', (date) =>
        codehost.pushPayload(of, 'main', of.merge?.sha ?? '', date, of.title),
      );
    },
    closes(at: number, by: Person = reviewer()): void {
      change.closedAt = () => timeOf(at);
      const of = now();
      delivered(at, 'pull_request', (date) =>
        codehost.pullRequestPayload(of, 'closed', date, voice.login(by)),
      );
    },
  };
}

export type PullRequestTeller = ReturnType<typeof createPullRequestTeller>;

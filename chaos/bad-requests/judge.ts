// Records the answers, and compares them with the model: at once, and at the end together with the log.
import type { AnswerBody } from '../../packages/testkit/src/deliveries/signed-delivery.ts';
import type { LogAudit } from '../../packages/testkit/src/log/audit-log.ts';
import type { Reply } from '../../packages/testkit/src/wire/exchange.ts';
import type { BadRequest, MayAnswer, Source } from './bad-request.ts';

/** `always` are answers that are allowed for every request. */
export function createJudge(remember: Source['remember'], always: readonly MayAnswer[] = []) {
  const counts: Record<string, Record<string, number>> = {};
  const problems: string[] = [];
  /** Ids of lines that were reported to a sender. */
  const reported = new Set<string>();
  /** Deliveries that may be in the log although there was no answer. */
  const unanswered = new Set<string>();
  let acceptedWrongly = 0;

  function noteAccepted(kind: string, request: BadRequest, body: AnswerBody): void {
    const isDuplicate = body.duplicate === true;
    if (!request.acceptable) acceptedWrongly += 1;
    if (!request.acceptable) problems.push(`${kind}: accepted wrongly as ${body.id}`);
    if (request.replay !== undefined && request.replay !== isDuplicate) {
      problems.push(`${kind}: answered as ${isDuplicate ? 'duplicate' : 'new'}`);
    }
    if (!isDuplicate && body.id !== undefined) {
      reported.add(body.id);
      remember(request);
    }
  }

  return {
    note(kind: string, request: BadRequest, reply: Reply): void {
      const answer = typeof reply === 'string' ? reply : reply.status;
      const row = (counts[kind] ??= {});
      row[answer] = (row[answer] ?? 0) + 1;
      const isAllowed = answer !== 'silent' && [...request.may, ...always].includes(answer);
      if (!isAllowed) problems.push(`${kind}: answered ${answer}, may be ${request.may.join(' or ')}`);
      if (typeof reply !== 'string' && reply.status === 200) {
        noteAccepted(kind, request, JSON.parse(reply.body.toString()));
      } else if (request.acceptable && request.deliveryId !== undefined) unanswered.add(request.deliveryId);
    },
    /** By kind: the number of each answer. */
    table: () => counts,
    acceptedWrongly: () => acceptedWrongly,
    /** Answers that the model does not allow. */
    problems: () => problems,
    /** What is in the log and should not be, or the reverse. */
    compare({ deliveries }: LogAudit): string[] {
      const wrong: string[] = [];
      for (const [deliveryId, lines] of deliveries) {
        if (lines.length > 1) wrong.push(`${deliveryId} has ${lines.length} lines`);
        for (const { lineId } of lines) {
          if (!reported.delete(lineId) && !unanswered.has(deliveryId))
            wrong.push(`${deliveryId} is in the log, but was not sent`);
        }
      }
      for (const lineId of reported) wrong.push(`line ${lineId} was acknowledged but is not in the log`);
      return wrong;
    },
  };
}

// An agent that waits is on the board and in attention until it is answered, whatever the agent does and whatever people do
// with its item: never hidden, never left over.
import { waitingMistake } from '@svc/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type LineFields, logged, request } from '../../kernel/board/testing/lines.ts';
import { boardView } from '../board/board-view.ts';
import { emptyBoard, foldLine } from '../board.ts';
import type { AgentRequest } from '../workers/agent-fields.ts';

const scope = { orchestrator: 'run-1', ticket: 'ENG-42' };
const requestOf = (number: number, kind: AgentRequest['kind']): AgentRequest => ({
  ...request,
  request: String(number),
  kind,
});

const attempt = fc.integer({ min: 1, max: 3 });
const requestNumber = fc.integer({ min: 1, max: 3 });
const turn = fc.integer({ min: 1, max: 4 });
const reason = fc.constantFrom('agent-needs-permission', 'agent-needs-input', 'agent-stopped');
const by = 'kim';

/** What agents, the daemon and people do, as lines of the log. */
const steps = fc.array(
  fc.oneof(
    fc.record({
      event: fc.constant('agent.session.started'),
      detail: fc.record({ attempt, agent: fc.constant('claude'), protocol: fc.boolean() }),
    }),
    fc.record({ event: fc.constant('agent.session.ended'), detail: fc.record({ attempt }) }),
    fc.record({ event: fc.constant('agent.turn.started'), detail: fc.record({ attempt, turn }) }),
    fc.record({
      event: fc.constant('agent.turn.ended'),
      detail: fc.record({
        attempt,
        turn,
        ok: fc.boolean(),
        reason: fc.constant('x'),
        queued: fc.integer({ min: 0, max: 1 }),
      }),
    }),
    fc.record({
      event: fc.constant('agent.request.opened'),
      detail: fc.record({
        attempt,
        request: fc
          .tuple(requestNumber, fc.constantFrom('permission' as const, 'input' as const))
          .map(([id, kind]) => requestOf(id, kind)),
      }),
    }),
    fc.record({
      event: fc.constant('agent.request.answered'),
      detail: fc.record({ attempt, request: requestNumber.map(String), running: fc.boolean() }),
    }),
    fc.record({ event: fc.constant('agent.stopped'), detail: fc.record({ attempt, by: fc.constant(by) }) }),
    fc.record({
      event: fc.constant('agent.limit.reached'),
      detail: fc.record({
        attempt,
        turn,
        text: fc.constant('limit'),
        until: fc.constantFrom(null, '2026-01-01T05:00:00.000Z'),
      }),
    }),
    fc.record({ event: fc.constant('agent.limit.over'), detail: fc.record({ attempt, turn }) }),
    fc.record({
      event: fc.constantFrom('comms.attention_acknowledged', 'comms.attention_resolved'),
      detail: fc.record({ reason, by: fc.constant(by) }),
      source: fc.constant('cli' as const),
    }),
    fc.record({
      event: fc.constant('comms.attention_snoozed'),
      detail: fc.record({ reason, by: fc.constant(by), until: fc.constant('2026-02-01T00:00:00.000Z') }),
      source: fc.constant('cli' as const),
    }),
    fc.record({
      event: fc.constant('comms.attention_handed_over'),
      detail: fc.record({ reason, by: fc.constant(by), to: fc.constant('mia') }),
      source: fc.constant('cli' as const),
    }),
    // For a ticket that has no card.
    fc.record({
      event: fc.constantFrom('comms.attention', 'comms.attention_acknowledged', 'comms.attention_resolved'),
      detail: fc.constant({ reason: 'task-refused', by, message: 'No run was started', severity: 'medium' }),
      source: fc.constant('cli' as const),
      scope: fc.constant({ ticket: 'ENG-9' }),
    }),
  ),
  { maxLength: 40 },
);

const signal = {
  ...scope,
  workerName: 'w',
  status: 'implementing',
  startedAt: '2026-01-01T00:00:00Z',
  updatedAt: '2026-01-01T00:00:00Z',
};

test('0 hidden, 0 left over, after every line', () => {
  fc.assert(
    fc.property(steps, (lines) => {
      const board = emptyBoard();
      let seq = 0;
      /** With the lines that the daemon appends because of it, which come next in the log. */
      const fold = (
        event: string,
        detail: object,
        source: NonNullable<LineFields['source']>,
        of: LineFields['scope'] = scope,
      ): void => {
        seq += 1;
        const line = logged(seq, event, { scope: of, detail: { ...detail }, source });
        for (const effect of foldLine(board, line))
          if (effect.kind === 'append' && effect.draft.event.startsWith('comms.attention'))
            fold(effect.draft.event, effect.draft.detail, 'monitor');
      };
      fold('orchestrator.worker.status_changed', { to: 'implementing', signal }, 'orchestrator');
      for (const line of lines) {
        const of = 'scope' in line ? line.scope : scope;
        fold(line.event, line.detail, 'source' in line ? line.source : 'orchestrator', of);
        const view = boardView(board);
        const state = view.workers[0]?.agent?.state ?? null;
        expect(waitingMistake(view, scope.ticket, state), JSON.stringify(line)).toBeNull();
      }
    }),
    { numRuns: 400 },
  );
});

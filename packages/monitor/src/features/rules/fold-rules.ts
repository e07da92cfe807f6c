// Rules that fired: the line itself contains the actions, so a changed configuration does not change the past.
import { ask, type Fold, type FoldContext, on } from '../../kernel/board/fold-context.ts';
import { draft } from '../../kernel/log/event-line.ts';
import type { DetailOf } from '../../kernel/log/topics.ts';

function foldFired(context: FoldContext<'workflow.rule.fired'>): void {
  const { line } = context;
  const { rule, notify, attention, run, line: cause } = line.detail;
  // Only the daemon may report a fired rule, because it runs a command.
  if (line.source !== 'monitor' || rule === undefined || cause === undefined) return;
  const ticket = line.scope.ticket ?? null;
  if (notify) ask(context, rule, { kind: 'notify-rule', rule, ticket, ...notify });
  if (attention) raise(context, `rule-${rule}`, { rule, ...attention }, cause);
  if (run !== undefined) ask(context, rule, { kind: 'run-command', rule, ticket, command: run, line: cause });
}

function foldFailed(context: FoldContext<'workflow.rule.failed'>): void {
  const { rule, problem, line } = context.line.detail;
  if (context.line.source !== 'monitor' || rule === undefined || line === undefined) return;
  const message = `Rule ${rule} is stopped until its filter is fixed: ${problem}`;
  raise(
    context,
    `rule-${rule}-stopped`,
    { rule, message, severity: 'medium', remedy: `svc rules test ${rule}` },
    line,
  );
}

function raise(
  context: FoldContext,
  reason: string,
  detail: Omit<DetailOf<'comms.attention'>, 'reason'>,
  cause: number,
): void {
  const { scope } = context.line;
  const raised = draft('comms.attention', scope, { reason, ...detail, evidence: [cause] });
  ask(context, reason, { kind: 'append', draft: raised });
}

export const ruleFolds: readonly Fold[] = [
  on(['workflow.rule.fired'], foldFired),
  on(['workflow.rule.failed'], foldFailed),
];

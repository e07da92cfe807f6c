// Lines of rules that fired: each asks for what the line itself says, so that a changed configuration changes no past.
import { RuleFailedDetail, RuleFiredDetail } from '../log/own-details.ts';
import { ask, type Folds, type Turn } from './turn.ts';

function foldFired(turn: Turn): void {
  const { line } = turn;
  const fired = RuleFiredDetail.safeParse(line.detail);
  // Only the daemon says that a rule fired: nobody else may have a command run.
  if (line.source !== 'monitor' || !fired.success) return;
  const { rule, notify, attention, run, line: cause } = fired.data;
  const ticket = line.scope.ticket ?? null;
  if (notify) ask(turn, rule, { kind: 'notify-rule', rule, ticket, ...notify });
  if (attention) raise(turn, `rule-${rule}`, { rule, ...attention }, cause);
  if (run !== undefined) ask(turn, rule, { kind: 'run-command', rule, ticket, command: run, line: cause });
}

function foldFailed(turn: Turn): void {
  const failed = RuleFailedDetail.safeParse(turn.line.detail);
  if (turn.line.source !== 'monitor' || !failed.success) return;
  const { rule, problem, line } = failed.data;
  const message = `The rule ${rule} does nothing until its filter is changed: ${problem}`;
  raise(
    turn,
    `rule-${rule}-stopped`,
    { rule, message, severity: 'medium', remedy: `svc rules test ${rule}` },
    line,
  );
}

function raise(turn: Turn, reason: string, detail: Record<string, unknown>, cause: number): void {
  const { scope } = turn.line;
  ask(turn, reason, {
    kind: 'append',
    draft: {
      event: 'comms.attention',
      source: 'monitor',
      via: 'local',
      scope,
      detail: { reason, ...detail, evidence: [cause] },
    },
  });
}

export const ruleFolds: Folds = [
  ['workflow.rule.fired', foldFired],
  ['workflow.rule.failed', foldFailed],
];

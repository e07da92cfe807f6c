// What the daemon has found about itself, a row for each part: in the first line of every screen and on the doctor's.
import type { ReactNode } from 'react';
import type { Meaning } from 'svc-monitor/src/kernel/board/label.ts';
import type { CheckGrade, DoctorFinding } from 'svc-monitor/src/kernel/check/finding.ts';
import { isOff } from 'svc-monitor/src/kernel/check/finding.ts';
import { For } from './age.tsx';
import { Pill } from './pill.tsx';
import { Remedy } from './remedy.tsx';

export const meaningOfGrade: Record<CheckGrade, Meaning> = {
  broken: 'broken',
  warning: 'you',
  unknown: 'unknown',
  ok: 'proven',
};

/** `actions`: what can be done about a finding. */
export function Findings({
  findings,
  actions,
}: {
  findings: readonly DoctorFinding[];
  actions?: (finding: DoctorFinding) => ReactNode;
}) {
  return (
    <ul className="-my-2 flex flex-col">
      {findings.map((finding) => {
        const { part, grade, what, since, evidence, remedy } = finding;
        return (
          <li
            key={`${part}${what}`}
            className="grid grid-cols-[minmax(0,1fr)] gap-x-4 gap-y-1 border-line border-b py-2.5 text-small last:border-0 wide:grid-cols-[8rem_7rem_minmax(0,1fr)]"
          >
            <span className="font-medium text-ink">{part.replaceAll('-', ' ')}</span>
            <span>
              <Pill meaning={isOff(finding) ? 'unknown' : meaningOfGrade[grade]}>
                {isOff(finding) ? 'off' : grade}
              </Pill>
            </span>
            <div className="flex min-w-0 flex-col items-start gap-1">
              <span className="wrap-anywhere">{what}</span>
              {since !== null && grade !== 'ok' && (
                <span className="text-tiny text-muted">
                  for <For at={since} />
                </span>
              )}
              {evidence !== null && <span className="wrap-anywhere text-tiny text-muted">{evidence}</span>}
              <Remedy text={remedy} />
              {actions?.(finding)}
            </div>
          </li>
        );
      })}
    </ul>
  );
}

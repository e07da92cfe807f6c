// Compares the log with the answers to senders: the promise is `lost 0 duplicated 0 torn 0`.
import type { SendReport } from '../deliveries/send-until-acknowledged.ts';
import type { LogAudit } from './audit-log.ts';

export type Verdict = {
  acknowledged: number;
  /** Acknowledged, but not in the log. */
  lost: number;
  /** Deliveries with more than one line. */
  duplicated: number;
  torn: number;
  /** Where `seq` skips or repeats. */
  holes: number;
  /** A line that differs from the one reported to the sender, and contradictory answers. */
  untrue: number;
  problems: string[];
};

export function judge(report: SendReport, audit: LogAudit): Verdict {
  const problems = [...audit.problems, ...report.contradictions.slice(0, 10)];
  let lost = 0;
  let untrue = report.contradictions.length;
  for (const [deliveryId, reported] of report.acknowledged) {
    const [line] = audit.deliveries.get(deliveryId) ?? [];
    if (line === undefined) {
      lost += 1;
      problems.push(`${deliveryId} was acknowledged but is not in the log`);
    } else if (line.lineId !== reported.lineId || line.event !== (reported.event ?? line.event)) {
      untrue += 1;
      problems.push(
        `${deliveryId} is line ${line.lineId} (${line.event}), not ${reported.lineId} (${reported.event})`,
      );
    }
  }
  const duplicated = [...audit.deliveries.values()].filter((lines) => lines.length > 1).length;
  const { torn, holes } = audit;
  return { acknowledged: report.acknowledged.size, lost, duplicated, torn, holes, untrue, problems };
}

export function isKept({ lost, duplicated, torn, holes, untrue }: Verdict): boolean {
  return lost + duplicated + torn + holes + untrue === 0;
}

export function verdictLine(verdict: Verdict): string {
  const { acknowledged, lost, duplicated, torn, holes, untrue } = verdict;
  const more = holes + untrue === 0 ? '' : ` holes ${holes} untrue ${untrue}`;
  return `acknowledged ${acknowledged} lost ${lost} duplicated ${duplicated} torn ${torn}${more}`;
}

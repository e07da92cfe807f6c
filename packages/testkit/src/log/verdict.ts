// Holds the log against what senders were told: the promise is `lost 0 duplicated 0 torn 0`.
import type { SendReport } from '../deliveries/send-until-acknowledged.ts';
import type { LogAudit } from './audit-log.ts';

export type Verdict = {
  acknowledged: number;
  /** Acknowledged, and not in the log. */
  lost: number;
  /** Deliveries with more than one line. */
  duplicated: number;
  torn: number;
  /** Where `seq` skips or repeats. */
  holes: number;
  /** A line that is not the one that the sender was told of, and answers that contradict each other. */
  untrue: number;
  problems: string[];
};

export function judge(report: SendReport, audit: LogAudit): Verdict {
  const problems = [...audit.problems, ...report.contradictions.slice(0, 10)];
  let lost = 0;
  let untrue = report.contradictions.length;
  for (const [deliveryId, told] of report.acknowledged) {
    const [line] = audit.deliveries.get(deliveryId) ?? [];
    if (line === undefined) {
      lost += 1;
      problems.push(`${deliveryId} was acknowledged and is not in the log`);
    } else if (line.lineId !== told.lineId || line.event !== (told.event ?? line.event)) {
      untrue += 1;
      problems.push(
        `${deliveryId} is line ${line.lineId} (${line.event}), told was ${told.lineId} (${told.event})`,
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

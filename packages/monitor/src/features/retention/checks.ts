// What the doctor shows of old data.
import type { AskingCheck } from '../../cli/kit/daemon-client.ts';
import { type DoctorFinding, doctorFinding } from '../../kernel/check/finding.ts';
import { bytesText } from '../archive/verbs/archive-session.ts';
import type { Retention } from './api.ts';

export const retentionChecks: readonly AskingCheck[] = [
  { part: 'disk', run: async (daemon) => [checkRetention(await daemon.get('/api/retention'))] },
];

/** How much there is of everything that the retention policy is about. */
function checkRetention({ totals, items, last }: Retention): DoctorFinding {
  const sizes = totals
    .map(({ kind, bytes }) => `${kind} ${bytes === null ? 'of unknown size' : bytesText(bytes)}`)
    .join(', ');
  const remedy = removableWords(items.filter(({ remove }) => remove));
  const [failed] = last?.failed ?? [];
  if (failed === undefined) return doctorFinding('disk', 'ok', `svc uses: ${sizes}`, { remedy });
  return doctorFinding('disk', 'warning', 'old data could not be removed', {
    evidence: `${failed.path}: ${failed.reason}`,
    remedy: 'Look at the reason: svc retention',
  });
}

/** `2 can be removed (runs 1, archives 1): svc retention`. */
function removableWords(due: Retention['items']): string {
  if (due.length === 0) return 'nothing of it is old enough to be removed: svc retention';
  const kinds = [...Map.groupBy(due, ({ kind }) => kind)].map(([kind, all]) => `${kind} ${all.length}`);
  return `${due.length} can be removed (${kinds.join(', ')}): svc retention`;
}

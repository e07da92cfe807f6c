// What the daemon found when it tried itself (`POST /api/doctor`), as findings.
import { type DoctorFinding, doctorFinding } from './finding.ts';

export type TriedDelivery =
  | { feed: string; ok: true; milliseconds: number }
  | { feed: string; ok: false; disabled: boolean; why: string; remedy: string | null };

export type SelfCheck = {
  /** A line written, then found through the index and in its file. */
  log:
    | { ok: true; seq: number; milliseconds: number }
    | { ok: false; step: 'write' | 'index' | 'file'; why: string; remedy: string | null };
  receivers: TriedDelivery[];
  /** Where AI is on: the providers with a key, and the variables that hold none. */
  providers: { enabled: boolean; present: string[]; missing: { provider: string; variable: string }[] };
};

export function judgeSelfCheck({ log, receivers, providers }: SelfCheck): DoctorFinding[] {
  return [judgeLog(log), ...receivers.map(judgeReceiver), ...judgeProviders(providers)];
}

const failedSteps = {
  write: 'a line could not be written to the event log',
  index: 'a line that was written is not found by the index',
  file: 'a line that was written is not in its file',
} as const;

function judgeLog(log: SelfCheck['log']): DoctorFinding {
  if (log.ok)
    return doctorFinding('log', 'ok', 'a line was written and read back', {
      evidence: `line ${log.seq}, ${log.milliseconds} ms`,
    });
  const isIndex = log.step === 'index';
  return doctorFinding(isIndex ? 'index' : 'log', 'broken', failedSteps[log.step], {
    evidence: log.why,
    remedy: log.remedy,
    fixable: isIndex,
  });
}

function judgeReceiver(tried: TriedDelivery): DoctorFinding {
  const { feed } = tried;
  if (tried.ok)
    return doctorFinding('receiver', 'ok', `the ${feed} receiver took a signed delivery`, {
      evidence: `${tried.milliseconds} ms`,
    });
  // Whether that is a fault, and what mends it, is told of its feed.
  if (tried.disabled) return doctorFinding('receiver', 'ok', `the ${feed} receiver is off: ${tried.why}`);
  return doctorFinding('receiver', 'broken', `the ${feed} receiver did not take a signed delivery`, {
    evidence: tried.why,
    remedy: tried.remedy,
  });
}

function judgeProviders({ enabled, present, missing }: SelfCheck['providers']): DoctorFinding[] {
  if (!enabled) return [doctorFinding('providers', 'ok', 'summaries are off (svc.ai.enabled)')];
  if (present.length + missing.length === 0)
    return [
      doctorFinding('providers', 'warning', 'summaries are on, and no provider is configured', {
        remedy: 'Run: svc config set svc.ai.providers.provider-a.apiKeyEnv <VARIABLE>',
      }),
    ];
  return [
    ...present.map((provider) => doctorFinding('providers', 'ok', `${provider} has its key`)),
    ...missing.map(({ provider, variable }) =>
      doctorFinding('providers', 'warning', `${provider} has no key`, {
        evidence: `${variable} is not set for the daemon`,
        remedy: `Set ${variable} and run: svc-monitor.sh restart`,
      }),
    ),
  ];
}

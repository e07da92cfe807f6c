// Findings about the daemon: from the state of its parts, which it judges itself (`GET /api/health`), from its self-check
// (`POST /api/doctor`), and about the disk that it writes to.

import { type DoctorFinding, type DoctorPart, doctorFinding } from '../../kernel/check/finding.ts';
import type { ReportedProblem } from '../../kernel/config/reported-problem.ts';
import {
  FILE_CHANGED,
  FILE_CHANGED_REMEDY,
  MISSING_REMEDY,
  missingText,
} from '../../kernel/log/missing-lines.ts';
import { failedSteps, type SelfCheck, type TriedDelivery } from '../doctor/self-check.ts';
import type { Health } from './api.ts';

/** The fields that are judged. */
export type ReportedHealth = Record<'clock' | 'dataRoot' | 'rules' | 'runs' | 'sessions' | 'state', Part> &
  Pick<Health, 'spool' | 'telemetry'> & {
    configuration: Pick<Health['configuration'], 'problems'>;
    feeds: Record<string, Pick<Health['feeds']['codehost'], 'receiver' | 'why' | 'remedy'>>;
    log: Pick<
      Health['log'],
      | 'corruptLines'
      | 'failing'
      | 'fileChanged'
      | 'indexFailing'
      | 'indexLag'
      | 'lastSeq'
      | 'missing'
      | 'rebuilding'
      | 'remedy'
      | 'why'
    >;
    outbox: Part & Pick<Health['outbox'], 'givenUp' | 'pending' | 'retrying' | 'retryingCount'>;
    signals: Part & Pick<Health['signals'], 'corrupt' | 'files' | 'ignored' | 'ignoredFiles'>;
    team?: Part;
  };

type Part = { state: string; why?: string; remedy?: string };

/** While events arrive, the index is always slightly behind. */
const USUAL_LAG = 10_000;

export function judgeHealth(health: ReportedHealth): DoctorFinding[] {
  const { clock, configuration, dataRoot, feeds, log, outbox, rules, runs, sessions, signals, spool, state } =
    health;
  return [
    // A deprecated name works; `svc doctor` finds it in the files.
    ...configuration.problems.filter(({ severity }) => severity !== 'deprecated').map(judgeProblem),
    ...(dataRoot.state === 'degraded'
      ? [doctorFinding('daemon', 'broken', dataRoot.why ?? '', { remedy: dataRoot.remedy ?? null })]
      : []),
    ...judgeLog(log),
    ...(clock.state === 'degraded' ? [judgeClock(clock)] : []),
    judgePart('state', 'the board', state),
    ...judgeOutbox(outbox),
    ...judgeSignals(signals),
    ...judgeIfDegraded('runs', 'the orchestrator', runs),
    // Working rules, and no rules at all, are not mentioned.
    ...judgeIfDegraded('rules', 'the rule engine', rules),
    ...judgeIfDegraded('hooks', 'the list of sessions that people started', sessions),
    ...(spool.rejected > 0 ? [judgeSpool(spool)] : []),
    ...Object.entries(feeds).flatMap(judgeReceiver),
    ...(health.team === undefined ? [] : judgeIfDegraded('team', 'the connection to the team', health.team)),
    ...Object.entries(health.telemetry).map(judgeBackend),
  ];
}

function judgeIfDegraded(part: DoctorPart, name: string, reported: Part): DoctorFinding[] {
  return reported.state === 'degraded' ? [judgePart(part, name, reported)] : [];
}

export function judgeProblem({ severity, text, remedy }: ReportedProblem): DoctorFinding {
  const grade = severity === 'error' ? 'broken' : 'warning';
  return doctorFinding('configuration', grade, text.replace(/\.$/, ''), { remedy });
}

function judgeSpool({ rejected, remedy }: ReportedHealth['spool']): DoctorFinding {
  return doctorFinding('spool', 'warning', 'some reports from helper scripts could not be read', {
    evidence: `${rejected} since the daemon started`,
    remedy: remedy ?? null,
  });
}

/** A receiver that is off is reported by the test delivery. */
function judgeReceiver([name, { receiver, why, remedy }]: [
  string,
  ReportedHealth['feeds'][string],
]): DoctorFinding[] {
  if (receiver !== 'degraded') return [];
  return [
    doctorFinding('receiver', 'broken', `the ${name} receiver rejects deliveries: ${why ?? ''}`, {
      remedy: remedy ?? null,
    }),
  ];
}

function judgePart(part: DoctorPart, name: string, { state, why, remedy }: Part): DoctorFinding {
  if (state === 'degraded')
    return doctorFinding(part, 'broken', `${name} does not work: ${why ?? ''}`, { remedy: remedy ?? null });
  if (state === 'connecting')
    return doctorFinding(part, 'unknown', `${name} is still catching up with the log`, {
      remedy: 'Check again: svc doctor',
    });
  return doctorFinding(part, 'ok', `${name} is up to date`);
}

function judgeClock({ why, remedy }: Part): DoctorFinding {
  return doctorFinding('clock', 'broken', why ?? 'the clock was set back', { remedy: remedy ?? null });
}

function judgeLog(log: ReportedHealth['log']): DoctorFinding[] {
  const found: DoctorFinding[] = [];
  const missing = missingText(log.missing);
  if (log.failing !== null)
    found.push(
      doctorFinding('log', 'broken', `the event log cannot be written: ${log.why ?? ''}`, {
        remedy: log.remedy ?? null,
      }),
    );
  if (missing !== undefined) found.push(doctorFinding('log', 'broken', missing, { remedy: MISSING_REMEDY }));
  else if (log.fileChanged)
    found.push(doctorFinding('log', 'broken', FILE_CHANGED, { remedy: FILE_CHANGED_REMEDY }));
  if (log.corruptLines > 0)
    found.push(
      doctorFinding('log', 'warning', 'the event log has lines that cannot be read; they are skipped', {
        evidence: `${log.corruptLines} since the daemon started`,
        remedy: 'Find them: svc monitor logs | grep corrupt-line; then restore the file from a backup',
      }),
    );
  return [...found, judgeIndex(log)];
}

function judgeIndex({ indexLag, indexFailing, rebuilding, lastSeq }: ReportedHealth['log']) {
  const evidence = `${indexLag} of ${lastSeq} events are not indexed`;
  if (indexFailing !== null)
    return doctorFinding('index', 'broken', `the index cannot be written: ${indexFailing}`, {
      evidence,
      remedy:
        'Free disk space and check the data folder; indexing then continues by itself. If the database is damaged, run: svc monitor restart',
    });
  if (rebuilding)
    return doctorFinding('index', 'warning', 'the index is being rebuilt', {
      evidence,
      remedy: 'Nothing to do: it finishes by itself.',
    });
  if (indexLag > USUAL_LAG)
    return doctorFinding('index', 'warning', 'the index is far behind the log', {
      evidence,
      remedy: 'Rebuild it: svc events reindex',
      fixable: true,
    });
  return doctorFinding('index', 'ok', 'the index is up to date', { evidence });
}

function judgeOutbox(outbox: ReportedHealth['outbox']): DoctorFinding[] {
  const { givenUp, retryingCount, retrying, pending } = outbox;
  const found = [judgePart('outbox', 'the outbox', outbox)];
  if (givenUp > 0)
    found.push(
      doctorFinding('outbox', 'warning', 'the outbox gave up on some actions', {
        evidence: `${givenUp} given up`,
        remedy: 'List them: svc outbox; then retry: svc outbox retry <key>',
      }),
    );
  if (retryingCount > 0) {
    const [first] = retrying;
    const why = first === undefined ? '' : `, the first: ${first.key}: ${first.error}`;
    found.push(
      doctorFinding('outbox', 'warning', 'the outbox is retrying failed actions', {
        evidence: `${retryingCount} of ${pending}${why}`,
        remedy: 'Retries are automatic; list them: svc outbox',
      }),
    );
  }
  return found;
}

function judgeSignals(signals: ReportedHealth['signals']): DoctorFinding[] {
  const { corrupt = 0, files = 0, ignored = 0, ignoredFiles = [] } = signals;
  const found = [judgePart('signals', 'the reader of status files', signals)];
  if (corrupt > 0)
    found.push(
      doctorFinding('signals', 'warning', 'some status files cannot be read; their last content is used', {
        evidence: `${corrupt} of ${files}`,
        remedy: 'List them: svc attention; then let the agent write its file again',
      }),
    );
  if (ignored > 0)
    found.push(
      doctorFinding('signals', 'warning', 'some status files are not read: they are not regular files', {
        evidence: `${ignored}, the first: ${ignoredFiles[0] ?? 'unknown'}`,
        remedy: 'Remove them, or let the agent write its file again',
      }),
    );
  return found;
}

function judgeBackend([name, { state, since, why, remedy }]: [
  string,
  ReportedHealth['telemetry']['metrics'],
]): DoctorFinding {
  if (state === 'degraded')
    return doctorFinding('telemetry', 'warning', `the ${name} backend does not answer: ${why ?? ''}`, {
      since,
      remedy,
    });
  return doctorFinding('telemetry', 'ok', `${name}: ${state}`, {
    remedy: state === 'disabled' ? remedy : null,
  });
}

export function judgeSelfCheck({ log, receivers, providers }: SelfCheck): DoctorFinding[] {
  return [judgeWrittenLine(log), ...receivers.map(judgeDelivery), ...judgeProviders(providers)];
}

function judgeWrittenLine(log: SelfCheck['log']): DoctorFinding {
  if (log.ok)
    return doctorFinding('log', 'ok', 'a test event was written and read back', {
      evidence: `event ${log.seq}, ${log.milliseconds} ms`,
    });
  const isIndex = log.step === 'index';
  return doctorFinding(isIndex ? 'index' : 'log', 'broken', failedSteps[log.step], {
    evidence: log.why,
    remedy: log.remedy,
    fixable: isIndex,
  });
}

function judgeDelivery(tried: TriedDelivery): DoctorFinding {
  const { feed } = tried;
  if (tried.ok)
    return doctorFinding('receiver', 'ok', `the ${feed} receiver accepted a signed delivery`, {
      evidence: `${tried.milliseconds} ms`,
    });
  // The finding of the feed reports whether that is a problem, and how to fix it.
  if (tried.disabled) return doctorFinding('receiver', 'ok', `the ${feed} receiver is off: ${tried.why}`);
  return doctorFinding('receiver', 'broken', `the ${feed} receiver did not accept a signed delivery`, {
    evidence: tried.why,
    remedy: tried.remedy,
  });
}

function judgeProviders({ enabled, present, missing }: SelfCheck['providers']): DoctorFinding[] {
  if (!enabled) return [doctorFinding('providers', 'ok', 'summaries are off (svc.ai.enabled)')];
  if (present.length + missing.length === 0)
    return [
      doctorFinding('providers', 'warning', 'summaries are on, but no provider is configured', {
        remedy: 'Run: svc config set svc.ai.providers.provider-a.apiKeyEnv <VARIABLE>',
      }),
    ];
  return [
    ...present.map((provider) => doctorFinding('providers', 'ok', `${provider} has its key`)),
    ...missing.map(({ provider, variable }) =>
      doctorFinding('providers', 'warning', `${provider} has no key`, {
        evidence: `${variable} is not set for the daemon`,
        remedy: `Set ${variable} and run: svc monitor restart`,
      }),
    ),
  ];
}

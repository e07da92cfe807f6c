// The steps of the setup. Each is reported with its outcome, and one that fails does not stop the others. What a step
// prints is kept as its details.
import { asError, messageOf, systemErrorCode } from '@svc/lib/errors';
import { paint, type Terminal } from '../../../cli/kit/terminal.ts';
import { plainText } from '../../../cli/kit/text.ts';
import { Failure } from '../../../kernel/failure.ts';

const stepNames = [
  'project-file',
  'secrets',
  'registration',
  'tracker-ids',
  'code-host-feed',
  'tracker-feed',
  'daemon',
  'doctor',
] as const;

type StepName = (typeof stepNames)[number];
type StepOutcome = 'done' | 'unchanged' | 'skipped' | 'failed';

type StepReport = {
  step: StepName;
  outcome: StepOutcome;
  what: string;
  details: string[];
  /** How to fix it, and the command that repeats this step; for a failed or skipped step. */
  remedy: string | null;
  again: string | null;
};

export type StepEnd = { outcome: Exclude<StepOutcome, 'failed'>; what: string; again?: string };

export type Steps = {
  /** `work` gets a terminal whose output becomes the step's details. */
  run: (name: StepName, again: string, work: (quiet: Terminal) => Promise<StepEnd>) => Promise<boolean>;
  reports: readonly StepReport[];
  firstError: () => Error | undefined;
};

const colours = { done: 'green', unchanged: 'gray', skipped: 'yellow', failed: 'red' } as const;
const outcomeWidth = Math.max(...Object.keys(colours).map((name) => name.length));
const stepWidth = Math.max(...stepNames.map((name) => name.length));

/** A step that takes longer is shown as working. */
const SLOW_MS = 1_000;

export function createSteps(terminal: Terminal, printLine: (line: string) => void): Steps {
  const reports: StepReport[] = [];
  let firstError: Error | undefined;

  function print({ step, outcome, what, details, remedy, again }: StepReport): void {
    const indent = ' '.repeat(outcomeWidth + stepWidth + 4);
    const more = outcome === 'failed' ? details : details.filter((line) => line.startsWith('warning: '));
    printLine(
      `${paint(terminal, colours[outcome], outcome.padEnd(outcomeWidth))}  ${step.padEnd(stepWidth)}  ${plain(what)}`,
    );
    for (const line of more) printLine(indent + paint(terminal, 'dim', plain(line)));
    if (remedy !== null) printLine(indent + plain(remedy));
    if (again !== null) printLine(`${indent}Repeat: ${again}`);
  }

  return {
    reports,
    firstError: () => firstError,
    async run(step, again, work) {
      const details: string[] = [];
      const keep = (text: string): void => void details.push(...text.split('\n'));
      let report: StepReport;
      const slow = setTimeout(
        () => printLine(`${'working'.padEnd(outcomeWidth)}  ${step.padEnd(stepWidth)}  …`),
        SLOW_MS,
      );
      try {
        const end = await work({ ...terminal, out: keep, err: keep });
        report = {
          step,
          outcome: end.outcome,
          what: end.what,
          details,
          remedy: null,
          again: end.again ?? null,
        };
      } catch (thrown) {
        const error = failureOf(thrown);
        firstError ??= error;
        const remedy = error instanceof Failure ? (error.remedy ?? null) : null;
        report = { step, outcome: 'failed', what: messageOf(error), details, remedy, again };
      } finally {
        clearTimeout(slow);
      }
      reports.push(report);
      print(report);
      return report.outcome !== 'failed';
    },
  };
}

/** An error of the file system or the network is not a bug. */
function failureOf(thrown: unknown): Error {
  if (thrown instanceof Failure) return thrown;
  if (systemErrorCode(thrown) !== undefined)
    return new Failure('file-unusable', messageOf(thrown), undefined, { cause: thrown });
  return asError(thrown);
}

function plain(text: string): string {
  return plainText(text.replaceAll(/\s*\n\s*/g, ' '));
}

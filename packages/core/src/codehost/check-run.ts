// What the code host tells of the checks of a commit, of the job behind one, and of the comments of a review.
// Only fields that are used are here; what is missing is no reason to tell nothing.
import { z } from 'zod';

const text = z.string().nullish();

export const CheckRun = z.object({
  name: z.string(),
  conclusion: text,
  details_url: text,
  html_url: text,
  output: z.object({ title: text, summary: text }).nullish(),
});

export const CheckRuns = z.object({ check_runs: z.array(CheckRun).max(1_000) });

export const CheckJob = z.object({
  steps: z
    .array(z.object({ name: z.string(), conclusion: text }))
    .max(10_000)
    .nullish(),
});

export const ReviewComment = z.object({ path: text, line: z.int().nullish(), body: z.string() });

export type CheckRun = z.infer<typeof CheckRun>;

const jobAddress = /\/actions\/runs\/\d{1,20}\/job\/(\d{1,20})(?:[/?#]|$)/;
const failed: ReadonlySet<string> = new Set(['failure', 'timed_out', 'startup_failure']);

export function hasFailed({ conclusion }: { conclusion?: string | null | undefined }): boolean {
  return failed.has(conclusion ?? '');
}

/** The id of the job whose log tells more; undefined for a check that is no job of the code host itself. */
export function jobOf({ details_url, html_url }: CheckRun): string | undefined {
  return jobAddress.exec(details_url ?? '')?.[1] ?? jobAddress.exec(html_url ?? '')?.[1];
}

// Whether the liveness check may ask a person, and what the answer means.

/**
 * Interactive only with a person at standard input and `SVC_AUTONOMOUS` unset. Any value of the variable but an
 * empty one is autonomous: a warning too many costs nothing, a question that nobody answers stops a run.
 */
export function isInteractive(given: { inputIsTerminal: boolean; autonomous: string | undefined }): boolean {
  return given.inputIsTerminal && (given.autonomous ?? '') === '';
}

/** An answer to `[Y/n]`: an empty line is yes. Undefined is the end of the input: nobody said yes. */
export function meansYes(answer: string | undefined): boolean {
  return answer !== undefined && /^(?:y|yes)?$/i.test(answer.trim());
}

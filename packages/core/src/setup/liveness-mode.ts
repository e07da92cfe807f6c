// Whether the liveness check may ask the user, and how to read the answer.

/**
 * Interactive only if standard input is a terminal and `SVC_AUTONOMOUS` is unset. Any non-empty value of the variable
 * means autonomous: an extra warning costs nothing, but an unanswered question stops a run.
 */
export function isInteractive(given: { inputIsTerminal: boolean; autonomous: string | undefined }): boolean {
  return given.inputIsTerminal && (given.autonomous ?? '') === '';
}

/** An answer to `[Y/n]`: an empty line is yes. Undefined, the end of the input, is no. */
export function meansYes(answer: string | undefined): boolean {
  return answer !== undefined && /^(?:y|yes)?$/i.test(answer.trim());
}

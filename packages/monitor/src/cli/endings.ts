/** Thrown by a verb whose answer is no: everything was said already. Exit code 1. */
export class AnswerIsNo extends Error {}

/** Thrown when the person ends a question (Ctrl-C at a prompt is a key, not a signal). Exit code 130. */
export class Interrupted extends Error {}

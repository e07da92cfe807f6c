/** Thrown by a verb whose answer is no: everything was said already. Exit code 1. */
export class AnswerIsNo extends Error {}

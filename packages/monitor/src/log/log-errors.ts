// What can go wrong in the log that a caller has to handle.
import { Failure } from '../errors.ts';

/**
 * The fact is not in the log: the disk is full or failing, or the log cannot keep up. Nobody may be told
 * that it was accepted. The log tries again with the next append; there is nothing to restart.
 */
export class LogNotWritable extends Failure {
  constructor(reason: string, options: { cause?: unknown; remedy?: string } = {}) {
    const remedy = options.remedy ?? 'Free disk space and check the folder of the event log.';
    super('log-not-writable', `The event log cannot be written: ${reason}`, remedy, { cause: options.cause });
    this.name = 'LogNotWritable';
  }
}

/** A reader of the live tail that did not keep up. It resumes after `lastSeq` and misses nothing. */
export class TailCutOff extends Error {
  readonly code = 'tail-cut-off';
  readonly lastSeq: number;

  constructor(lastSeq: number) {
    super(`Too slow for the live tail; resume after seq ${lastSeq}.`);
    this.name = 'TailCutOff';
    this.lastSeq = lastSeq;
  }
}

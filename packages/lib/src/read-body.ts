// The body of a request as one buffer of its raw bytes, within limits. Uses plain listeners: an async iterator costs
// more than all other work on a delivery of usual size.
import type { IncomingMessage } from 'node:http';

/** The bytes that all requests sharing it may have in memory at once. */
export type ByteBudget = {
  take: (bytes: number) => boolean;
  give: (bytes: number) => void;
  used: () => number;
};

export function createByteBudget(size: number): ByteBudget {
  let used = 0;
  return {
    take(bytes) {
      if (used + bytes > size) return false;
      used += bytes;
      return true;
    },
    give(bytes) {
      used -= bytes;
    },
    used: () => used,
  };
}

/** `busy`: the budget is used up. `cut-off`: the connection closed. */
export type BodyProblem = 'too-large' | 'busy' | 'cut-off';

/** A complete body keeps its part of the budget until the caller returns it. */
export function readBody(
  request: IncomingMessage,
  limit: number,
  budget: ByteBudget,
): Promise<Buffer | BodyProblem> {
  return new Promise((resolve) => {
    let first: Buffer | undefined;
    let parts: Buffer[] | undefined;
    let length = 0;
    const settle = (result: Buffer | BodyProblem): void => {
      request.removeListener('data', onData);
      request.removeListener('end', onEnd);
      request.removeListener('close', onCut);
      if (typeof result === 'string') budget.give(length);
      // An error may still follow when the connection closes: nothing is returned twice.
      length = 0;
      first = undefined;
      parts = undefined;
      resolve(result);
    };
    const onData = (part: Buffer): void => {
      if (length + part.length > limit) return settle('too-large');
      if (!budget.take(part.length)) return settle('busy');
      length += part.length;
      if (first === undefined) first = part;
      else (parts ??= [first]).push(part);
    };
    const onEnd = (): void => {
      settle(parts === undefined ? (first ?? Buffer.alloc(0)) : Buffer.concat(parts, length));
    };
    const onCut = (): void => settle('cut-off');
    request.on('data', onData);
    request.on('end', onEnd);
    request.on('close', onCut);
    request.on('error', onCut);
  });
}

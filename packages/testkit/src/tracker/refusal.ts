// An error as the tracker words it: a message, and extensions by which a client tells the kinds apart.
const kinds = {
  INPUT_ERROR: { type: 'invalid input', statusCode: 400, userError: true },
  AUTHENTICATION_ERROR: { type: 'authentication error', statusCode: 401, userError: true },
  FORBIDDEN: { type: 'forbidden', statusCode: 403, userError: true },
  RATELIMITED: { type: 'ratelimited', statusCode: 429, userError: true },
  INTERNAL_SERVER_ERROR: { type: 'internal error', statusCode: 500, userError: false },
} as const;

export type RefusalCode = keyof typeof kinds;

export class Refusal extends Error {
  readonly extensions: Record<string, unknown>;

  constructor(code: RefusalCode, message: string, userPresentableMessage = message) {
    super(message);
    this.extensions = { code, ...kinds[code], userPresentableMessage };
  }
}

export function notFound(entity: string): Refusal {
  return new Refusal('INPUT_ERROR', `Entity not found: ${entity}`, `Could not find referenced ${entity}.`);
}

/** The body of an answer that is nothing but one error. */
export function refusalBody(refusal: Refusal): string {
  return JSON.stringify({ errors: [{ message: refusal.message, extensions: refusal.extensions }] });
}

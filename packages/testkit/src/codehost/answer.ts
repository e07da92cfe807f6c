// An answer of the fake code host before it goes over the wire, and the refusals in the vendor's words.

/** `text` is sent as it is, and `body` as JSON. */
export type Answer = { status: number; body?: unknown; text?: string; headers?: Record<string, string> };

export class Refusal extends Error {
  readonly answer: Answer;

  constructor(
    status: number,
    message: string,
    more: { errors?: object[]; headers?: Record<string, string> } = {},
  ) {
    super(message);
    this.name = 'Refusal';
    const { errors, headers } = more;
    this.answer = {
      status,
      body: { message, ...(errors && { errors }), documentation_url: 'https://docs.example/rest' },
      ...(headers && { headers }),
    };
  }
}

export function notFound(headers?: Record<string, string>): Refusal {
  return new Refusal(404, 'Not Found', headers && { headers });
}

export function notAdmin(): Refusal {
  return new Refusal(403, 'Must have admin rights to Repository.');
}

export function invalid(message: string): Refusal {
  return new Refusal(422, 'Validation Failed', { errors: [{ resource: 'Hook', code: 'custom', message }] });
}

/** Integers of any size go out exactly. */
export function toJson(body: unknown): string {
  const marker = /"bigint:(\d+)"/g;
  const text = JSON.stringify(body, (_name, value: unknown) =>
    typeof value === 'bigint' ? `bigint:${value}` : value,
  );
  return text.replaceAll(marker, '$1');
}

export function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d{3}Z$/, 'Z');
}

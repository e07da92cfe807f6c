// Every refusal: its code, HTTP status, words and remedy. The codes are also the outcomes in the metrics.
const refusals = {
  'bad-request': { status: 400, error: 'The request cannot be understood.', remedy: undefined },
  'bad-position': {
    status: 400,
    error: '`since` is no position.',
    remedy: 'Give an id of this channel (<epoch>.<number>), `oldest` or `new`.',
  },
  'bad-subscriber': {
    status: 400,
    error: '`subscriber` is no name.',
    remedy: 'Use 1 to 64 letters, digits, dots, hyphens and underscores.',
  },
  'key-needed': {
    status: 401,
    error: 'This channel is read with its read key.',
    remedy: 'Send it as `Authorization: Bearer <key>`, or in the header `X-Svc-Relay-Key`.',
  },
  'create-key-needed': {
    status: 401,
    error: "Channels of this relay are made with the operator's key.",
    remedy: 'Send it as `Authorization: Bearer <key>`.',
  },
  'open-channels-off': {
    status: 403,
    error: 'This relay makes no channels that anybody can read.',
    remedy: 'Make one with a read key: `POST /new`. The operator allows the other kind: `--open-channels`.',
  },
  'sender-not-allowed': {
    status: 403,
    error: 'This relay does not take deliveries from your address.',
    remedy: 'The operator can allow it: `--allow-senders`.',
  },
  'metrics-are-local': {
    status: 403,
    error: 'Metrics are for local and private addresses.',
    remedy: 'Ask from the same network, not through the public address.',
  },
  'unknown-channel': {
    status: 404,
    error: 'There is no such channel.',
    remedy: 'Make one: `POST /new`.',
  },
  'no-such-route': { status: 404, error: 'There is nothing here.', remedy: undefined },
  'wrong-method': { status: 405, error: 'This address does not take that method.', remedy: undefined },
  'cut-off': { status: 408, error: 'The body did not arrive whole.', remedy: 'Send it again.' },
  'too-large': { status: 413, error: 'The body is larger than 25 MiB.', remedy: undefined },
  'rate-limited': {
    status: 429,
    error: 'Too much at once.',
    remedy: 'Send it again after the time in `Retry-After`.',
  },
  'too-many-subscribers': {
    status: 429,
    error: 'This channel, or your address, has as many streams open as are allowed.',
    remedy: 'Close one, or ask the operator: `--subscribers-per-channel`, `--subscribers-per-address`.',
  },
  failed: { status: 500, error: 'The relay failed to answer.', remedy: 'Send it again.' },
  busy: { status: 503, error: 'The relay holds as much as it can.', remedy: 'Send it again.' },
  'engine-unavailable': {
    status: 503,
    error: 'The delivery could not be stored in time, or what is stored could not be read.',
    remedy: 'Send it again after the time in `Retry-After`. Nothing that was answered with 2xx is affected.',
  },
} as const;

export type RefusalCode = keyof typeof refusals;

export function refusalOf(code: RefusalCode): { status: number; body: string } {
  const { status, error, remedy } = refusals[code];
  return { status, body: JSON.stringify({ error, code, remedy }) };
}

// Which headers of a POST travel to the readers. Those of the connection, of proxies on the way and of the
// sender's identity stay: a reader must never see a cookie or a credential that was meant for the relay.
const staying: ReadonlySet<string> = new Set([
  'authorization',
  'connection',
  'content-length',
  'cookie',
  'cookie2',
  'expect',
  'forwarded',
  'host',
  'http2-settings',
  'keep-alive',
  'set-cookie',
  'set-cookie2',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'via',
  'x-real-ip',
  'x-svc-relay-key',
]);
const stayingFamilies = ['proxy-', 'x-forwarded-', 'sec-', 'cf-'];
const MAX_HEADERS = 100;
const MAX_HEADER_CHARACTERS = 8 * 1024;

type ReceivedHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** From headers as Node gives them (lower case). What `Connection` names stays too. At most 100 travel. */
export function travellingHeaders(received: ReceivedHeaders): Record<string, string> {
  const hopByHop = namedByConnection(received['connection']);
  const travelling: Record<string, string> = {};
  let count = 0;
  for (const name in received) {
    const value = received[name];
    if (value === undefined || staying.has(name) || hopByHop?.has(name) === true) continue;
    if (stayingFamilies.some((family) => name.startsWith(family))) continue;
    const text = typeof value === 'string' ? value : value.join(', ');
    if (text.length > MAX_HEADER_CHARACTERS) continue;
    travelling[name] = text;
    count += 1;
    if (count === MAX_HEADERS) break;
  }
  return travelling;
}

function namedByConnection(value: ReceivedHeaders[string]): ReadonlySet<string> | undefined {
  if (value === undefined) return undefined;
  const text = typeof value === 'string' ? value : value.join(',');
  if (text === 'keep-alive' || text === 'close') return undefined;
  return new Set(text.split(',').map((name) => name.trim().toLowerCase()));
}

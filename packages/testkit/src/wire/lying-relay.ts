// A relay as a machine sees it whose operator decides what is shown: records of its stream pass, are dropped, or are held and
// released later. Everything else goes to the real relay.
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type ShownRecord = { machine: string; kind: number; version: number };
export type LyingRelay = Awaited<ReturnType<typeof startLyingRelay>>;
type Decision = (record: ShownRecord) => 'pass' | 'drop' | 'hold';

/** `ports`: of the real relays, asked in turn. */
export async function startLyingRelay(ports: () => readonly number[]) {
  let decide: Decision = () => 'pass';
  /** A stream that the relay ends stays open. */
  let keepsOpen = false;
  let turn = 0;
  const held: string[] = [];
  const streams = new Set<ServerResponse>();

  function showFrames(from: IncomingMessage, to: ServerResponse): void {
    let text = '';
    from.setEncoding('utf8');
    from.on('data', (chunk: string) => {
      text += chunk;
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        show(text.slice(0, end + 2), to);
        text = text.slice(end + 2);
      }
    });
  }

  function show(frame: string, to: ServerResponse): void {
    const data = /^event: record\n(?:.*\n)*?data: (.*)$/m.exec(frame)?.[1];
    const decision = data === undefined ? 'pass' : decide(recordIn(data));
    if (decision === 'pass') to.write(frame);
    if (decision === 'hold') held.push(frame);
  }

  const server = createServer((asked, answer) => {
    const list = ports();
    turn += 1;
    const port = list[turn % list.length];
    const { method, url, headers } = asked;
    const forwarded = request({ host: '127.0.0.1', port, method, path: url, headers }, (given) => {
      answer.writeHead(given.statusCode ?? 502, given.headers);
      if (!String(given.headers['content-type']).includes('event-stream')) return void given.pipe(answer);
      streams.add(answer);
      const pings = setInterval(() => (keepsOpen ? answer.write('event: ping\ndata: {}\n\n') : true), 1_000);
      answer.on('close', () => {
        clearInterval(pings);
        streams.delete(answer);
        forwarded.destroy();
      });
      showFrames(given, answer);
      const end = (): unknown => (keepsOpen ? undefined : answer.destroy());
      given.on('end', end).on('error', end);
    });
    forwarded.on('error', () => answer.destroy());
    asked.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    port: (server.address() as AddressInfo).port,
    lie(decision: Decision, options: { keepsOpen?: boolean } = {}): void {
      decide = decision;
      keepsOpen = options.keepsOpen ?? false;
    },
    /** The oldest record that is held; false: none is. */
    release(): boolean {
      const frame = held.shift();
      for (const stream of streams) if (frame !== undefined) stream.write(frame);
      return frame !== undefined;
    },
    /** Honest again, from a new stream on. */
    heal(): void {
      decide = () => 'pass';
      keepsOpen = false;
      held.length = 0;
      for (const stream of streams) stream.destroy();
    },
    async stop(): Promise<void> {
      for (const stream of streams) stream.destroy();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function recordIn(data: string): ShownRecord {
  const { path, body } = JSON.parse(data) as { path: string; body: string };
  const [machine = '', kind] = path.split('.');
  const version = (JSON.parse(body) as { version: number }).version;
  return { machine, kind: Number(kind), version };
}

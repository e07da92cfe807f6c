// Serves one client on standard input and output until it goes away. Nothing else may be written to standard output.
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Terminal } from '../terminal.ts';
import type { Scope } from './scopes.ts';
import { createMcpServer } from './server.ts';

/** Resolves when the client has closed its end, or the person interrupts. Calls under way are aborted. */
export async function serveMcp(terminal: Terminal, granted: ReadonlySet<Scope>): Promise<void> {
  const transport = new StdioServerTransport();
  const over = Promise.withResolvers<void>();
  const close = transport.close.bind(transport);
  transport.close = async () => {
    await close();
    over.resolve();
  };
  const handle = serveStdio(() => createMcpServer({ terminal, granted }), {
    transport,
    onerror: (error) => terminal.err(`svc mcp: ${error.message}`),
  });
  terminal.interrupted.addEventListener('abort', () => over.resolve(), { once: true });
  await over.promise;
  await handle.close();
}

// The first file to run: reports a too old Node in a sentence instead of a stack trace; enables the cache of compiled
// code; then loads the rest. So it imports nothing before these checks.
const OLDEST_NODE = 24;

if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
  process.stderr.write(
    `error: svc-relay needs Node ${OLDEST_NODE} or newer, and this is Node ${process.versions.node}.\n`,
  );
  process.exit(6);
}
const { enableCompileCache } = await import('node:module');
enableCompileCache();
await import('./main.ts');

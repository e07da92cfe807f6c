// The first file to run. It reports a Node that is too old, which would otherwise be a stack trace; turns on the cache of
// compiled code; then loads the rest through it. So it imports nothing before the check.
const OLDEST_NODE = 24;

if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
  process.stderr.write(
    `error: svc needs Node ${OLDEST_NODE} or newer, but this is Node ${process.versions.node}.\nInstall a newer one (https://nodejs.org), then run svc again.\n`,
  );
  process.exit(6);
}
const { enableCompileCache } = await import('node:module');
enableCompileCache();
// Completion runs at each Tab, so it has its own entry point and loads none of the other verbs.
if (process.argv[2] === 'complete') await import('./completion/main.ts');
else await import('./main.ts');

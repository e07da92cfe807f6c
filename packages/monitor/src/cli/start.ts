// The first file to run: says in a sentence that Node is too old, which the rest could only say in a stack trace;
// switches on the cache of compiled code; then loads the rest through it. So it imports nothing before it has looked.
const OLDEST_NODE = 24;

if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
  process.stderr.write(
    `error: svc needs Node ${OLDEST_NODE} or newer, and this is Node ${process.versions.node}.\nInstall a newer one (https://nodejs.org), then run it again.\n`,
  );
  process.exit(6);
}
const { enableCompileCache } = await import('node:module');
enableCompileCache();
// What a shell asks at each Tab has a door of its own, which loads nothing of the other verbs.
if (process.argv[2] === 'complete') await import('./completion/main.ts');
else await import('./main.ts');

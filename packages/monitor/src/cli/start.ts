// The first file to run. It reports a Node that is too old, which would otherwise be a stack trace; turns on the cache of
// compiled code; then loads the rest through it. So it imports nothing before the check.
const OLDEST_NODE = 24;

if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
  process.stderr.write(
    `error: svc needs Node ${OLDEST_NODE} or newer, but this is Node ${process.versions.node}.\nInstall a newer one (https://nodejs.org), then run svc again.\n`,
  );
  process.exit(6);
}
const { enableCompileCache } = process.getBuiltinModule('node:module');
enableCompileCache();
// Completion runs at each Tab and the hook at each event of an agent, so both have their own entry points and load none of
// the verbs.
if (process.argv[2] === 'complete') await import('./completion/main.ts');
else if (process.argv[2] === 'hook') await import('../features/sessions/io/hook.ts');
else if (!(await answerFromRecord())) await import('./main.ts');

/** Prints the version or help, which are the same each time. */
async function answerFromRecord(): Promise<boolean> {
  const words = process.argv.slice(2);
  if (!/^(?:--version|-V|--help|-h|help)$/m.test(words.slice(-2).join('\n'))) return false;
  const { recordedAnswer } = await import('./kit/recorded-help.ts');
  const answer = recordedAnswer(words, process.stdout.columns ?? Infinity);
  if (answer === undefined) return false;
  process.stdout.on('error', () => process.exit(0)).write(`${answer}\n`);
  return true;
}

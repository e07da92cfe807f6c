// Agents that svc talks to, under kills of the daemon (chaos/agents-kills.ts) or under faults (chaos/agents-faults.ts).
// `npm run chaos:agents` (20 tickets, 1,000 kills); `-- --kills 10 --tickets 5` is quick; `-- --sabotage` shows that the
// check can fail; `-- --seed 2` makes other choices. `-- --faults` injects every fault once, `-- --faults --only 7` one.
await (process.argv.includes('--faults') ? import('./agents-faults.ts') : import('./agents-kills.ts'));

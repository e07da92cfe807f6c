// `svc-relay provision`: makes the streams, or upgrades them in place. Says what it did, stream by stream.
import { provision } from '../provision/provision.ts';
import { withEngine } from './engine-failure.ts';
import { natsOptions } from './nats-options.ts';
import type { natsSettings, provisionSettings, Values } from './settings.ts';
import type { Terminal } from './terminal.ts';

const HOUR_MS = 3_600_000;

export async function provisionStreams(
  terminal: Terminal,
  settings: Values<typeof provisionSettings> & Values<typeof natsSettings>,
): Promise<void> {
  const nats = natsOptions(settings, terminal.environment);
  const steps = await withEngine(
    () =>
      provision({
        nats,
        prefix: settings.prefix,
        dryRun: settings.dryRun,
        shrink: settings.shrink,
        ...(settings.shards !== 0 && { shards: settings.shards }),
        ...(settings.replicas !== 0 && { replicas: settings.replicas }),
        ...(settings.placementTags.length > 0 && { placementTags: settings.placementTags }),
        ...(settings.maxAgeHours !== 0 && { maxAgeMs: settings.maxAgeHours * HOUR_MS }),
        ...(settings.maxDeliveries !== 0 && { maxDeliveriesPerChannel: settings.maxDeliveries }),
        ...(settings.maxChannelBytes !== 0 && { maxBytesPerChannel: settings.maxChannelBytes }),
        ...(settings.maxShardBytes !== 0 && { maxBytesPerShard: settings.maxShardBytes }),
      }),
    settings.nats,
  );
  const told = settings.dryRun ? 'would be ' : '';
  for (const { what, done, details } of steps) {
    terminal.out(`${what}: ${done === 'unchanged' ? '' : told}${done}`);
    for (const detail of details) terminal.out(`  ${detail}`);
  }
}

// Real nats-servers for one test: they go, with their stores, when it ends.
import { onTestFinished } from 'vitest';
import { type NatsCluster, type NatsServer, startNatsCluster, startNatsServer } from './nats-cluster.ts';
import type { NatsSettings } from './nats-configuration.ts';

export async function natsForTest(settings: NatsSettings = {}): Promise<NatsServer> {
  const server = await startNatsServer(settings);
  onTestFinished(() => server.stop());
  return server;
}

export async function natsClusterForTest(
  settings: NatsSettings & { size?: number } = {},
): Promise<NatsCluster> {
  const cluster = await startNatsCluster(settings);
  onTestFinished(() => cluster.stop());
  return cluster;
}

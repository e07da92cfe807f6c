// What the engine could not do, as an ending of the command.
import { Failure } from './failure.ts';

export async function withEngine<T>(work: () => Promise<T>, servers: readonly string[]): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw endingOf(error, servers) ?? error;
  }
}

function endingOf(error: unknown, servers: readonly string[]): Failure | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  const nats = servers.join(',');
  const options = { cause: error };
  if (error.code === 'engine-not-provisioned')
    return new Failure(
      'not-provisioned',
      error.message,
      `Run once: svc-relay provision --nats ${nats}\nOr start with --provision.`,
      options,
    );
  if (error.code === 'server-too-old')
    return new Failure('server-too-old', `${nats}: ${error.message}.`, remedyOf(error), options);
  if (error.code === 'provision-refused')
    return new Failure('provision-refused', error.message, remedyOf(error), options);
  if (error.code === 'engine-unavailable')
    return new Failure(
      'engine-unreachable',
      `NATS cannot be used at ${nats}: ${error.message}`,
      'Check that a nats-server with JetStream runs there: nats-server --jetstream',
      options,
    );
  return undefined;
}

function remedyOf(error: Error): string | undefined {
  return 'remedy' in error && typeof error.remedy === 'string' ? error.remedy : undefined;
}

// How to reach NATS, from settings and environment. User, password and token come from the environment only.
import { Failure } from './failure.ts';
import {
  type Environment,
  type natsSettings,
  readSecretFile,
  readTextFile,
  type Values,
} from './settings.ts';

export type NatsOptions = {
  servers: string[];
  name: string;
  user?: string;
  password?: string;
  token?: string;
  credentials?: string;
  tls?: { ca?: string };
};

export function natsOptions(settings: Values<typeof natsSettings>, environment: Environment): NatsOptions {
  const user = environment['SVC_RELAY_NATS_USER'];
  const password = environment['SVC_RELAY_NATS_PASSWORD'];
  const token = environment['SVC_RELAY_NATS_TOKEN'];
  const ways = [user, token, settings.credentialsFile || undefined].filter((way) => way !== undefined);
  if (ways.length > 1)
    throw new Failure(
      'settings-invalid',
      'NATS is to be reached in more than one way: with a user, a token or a credentials file.',
      'Keep one of SVC_RELAY_NATS_USER, SVC_RELAY_NATS_TOKEN and SVC_RELAY_NATS_CREDENTIALS.',
    );
  return {
    servers: settings.nats,
    name: 'svc-relay',
    ...(user !== undefined && { user }),
    ...(password !== undefined && { password }),
    ...(token !== undefined && { token }),
    ...(settings.credentialsFile !== '' && {
      credentials: readSecretFile(settings.credentialsFile, 'credentials file of NATS'),
    }),
    ...(settings.ca !== '' && { tls: { ca: readTextFile(settings.ca, 'certificate authority of NATS') } }),
  };
}

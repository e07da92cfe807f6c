// How to connect to NATS, from settings and environment. User, password and token come only from the environment.
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
      'More than one NATS login is set: a user, a token or a credentials file.',
      'Set only one of SVC_RELAY_NATS_USER, SVC_RELAY_NATS_TOKEN and SVC_RELAY_NATS_CREDENTIALS.',
    );
  return {
    servers: settings.nats,
    name: 'svc-relay',
    ...(user !== undefined && { user }),
    ...(password !== undefined && { password }),
    ...(token !== undefined && { token }),
    ...(settings.credentialsFile !== '' && {
      credentials: readSecretFile(settings.credentialsFile, 'NATS credentials file'),
    }),
    ...(settings.ca !== '' && { tls: { ca: readTextFile(settings.ca, 'NATS certificate authority') } }),
  };
}

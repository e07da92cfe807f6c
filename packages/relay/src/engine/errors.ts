// Every failure of the engine that a caller must handle, by its code.

/** JetStream did not acknowledge or answer in time. Nothing is known to be stored; the sender may try again. */
export class EngineUnavailable extends Error {
  readonly code = 'engine-unavailable';
  readonly remedy = 'See /readyz of the relay and the state of the NATS servers; then send again.';
}

/** The channel id exists with other properties. */
export class ChannelTaken extends Error {
  readonly code = 'channel-taken';
  readonly remedy = 'Create the channel with a fresh random id.';
}

/** The streams are missing, or are not what this relay can use. */
export class EngineNotProvisioned extends Error {
  readonly code = 'engine-not-provisioned';
  readonly remedy = 'Run `svc-relay provision` against these NATS servers.';
}

/** A NATS server that is known to lose what it has acknowledged. */
export class ServerTooOld extends Error {
  readonly code = 'server-too-old';
  readonly remedy: string;
  constructor(message: string, remedy: string) {
    super(message);
    this.remedy = remedy;
  }
}

/** What was asked of the streams cannot be done, or not without losing data. */
export class ProvisionRefused extends Error {
  readonly code = 'provision-refused';
  readonly remedy: string;
  constructor(message: string, remedy: string) {
    super(message);
    this.remedy = remedy;
  }
}

/** Why a follower ended although nobody closed it. */
export class EngineClosed extends Error {
  readonly code = 'engine-closed';
}

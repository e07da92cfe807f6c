// Every failure of the engine that a caller must handle, by its code.

/** JetStream did not acknowledge or answer in time. Nothing is known to be stored; the sender may try again. */
export class EngineUnavailable extends Error {
  readonly code = 'engine-unavailable';
}

/** The channel id exists with other properties. */
export class ChannelTaken extends Error {
  readonly code = 'channel-taken';
}

/** The streams are missing, or are not what this relay can use. */
export class EngineNotProvisioned extends Error {
  readonly code = 'engine-not-provisioned';
}

/** Why a follower ended although nobody closed it. */
export class EngineClosed extends Error {
  readonly code = 'engine-closed';
}

/** One that only an operator can fix: a server that loses messages, or streams that cannot be as asked. */
export class Refused extends Error {
  readonly code: 'server-too-old' | 'provision-refused';
  readonly remedy: string;
  constructor(code: Refused['code'], message: string, remedy: string) {
    super(message);
    this.code = code;
    this.remedy = remedy;
  }
}

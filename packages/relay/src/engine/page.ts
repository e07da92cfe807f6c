// What a read of the stream gives.
export type StoredMessage = {
  seq: number;
  subject: string;
  data: Uint8Array;
  /** See `Position`. */
  check: string;
};

/** What follows a sequence. */
export type Page = {
  /** The message at the sequence itself, by its check, when it is still there: then nothing after it was trimmed. */
  anchor: string | null;
  /** A sequence of the channel, the oldest that is kept or a later one up to the cursor, where it was asked for. */
  oldest?: number;
  messages: StoredMessage[];
  /** There was nothing more. */
  end: boolean;
};

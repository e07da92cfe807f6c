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
  messages: StoredMessage[];
  /** There was nothing more. */
  end: boolean;
};

// What a hostile relay does to deliveries and streams. Chances are per delivery, from 0 to 1.
export type Faults = {
  /** Accepts with 200 and delivers nothing. */
  drop: number;
  duplicate: number;
  /** Delivers after the next one. */
  reorder: number;
  /** Writes the body with its keys in another order: the same JSON, another signature. */
  rewrite: number;
  /** Writes the message over several data lines. */
  pretty: number;
  /** Cuts the connection in the middle of the frame. */
  cut: number;
  /** Writes the bytes in small pieces, cut anywhere. */
  split: number;
  /** Writes a comment before the frame. */
  comment: number;
  lineEnd: '\n' | '\r\n' | '\r' | 'mixed';
  /** Begins the stream with a byte order mark. */
  byteOrderMark: boolean;
};

export const noFaults: Faults = {
  drop: 0,
  duplicate: 0,
  reorder: 0,
  rewrite: 0,
  pretty: 0,
  cut: 0,
  split: 0,
  comment: 0,
  lineEnd: '\n',
  byteOrderMark: false,
};

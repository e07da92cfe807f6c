// What may go wrong at a model vendor. Errors quote the key, as vendors have been seen to do: whatever is
// said of them further on must not.
export type ModelFault =
  /** The answer breaks off in the middle of its body. */
  | { kind: 'cut' }
  | { kind: 'status'; status: number; retryAfter?: string }
  /** Nothing is answered until the client leaves. */
  | { kind: 'slow' }
  /** The answer begins and does not go on. */
  | { kind: 'stalled' }
  /** 200, and no JSON. */
  | { kind: 'malformed' }
  /** 200 and JSON, but nothing that the vendor would say. */
  | { kind: 'wrong-shape' }
  | { kind: 'empty' }
  /** A body without an end. */
  | { kind: 'endless' }
  | { kind: 'redirect'; to: string }
  /** Success, but only after this time. */
  | { kind: 'late'; afterMs: number };

// Frames out of the bytes of an event stream, within bounds: when more bytes come without a frame than the
// largest delivery can have, the stream is not one. (A byte parser of our own was measured against this
// library: it was no faster.)
import { createParser } from 'eventsource-parser';

export type StreamFrame = {
  /** `ready`, `ping`, …; undefined for a plain message. */
  event?: string | undefined;
  /** The id of this very frame; an earlier frame's is not inherited. */
  id?: string | undefined;
  data: string;
};

export type EventStream = {
  /** False when a frame is larger than allowed; nothing may be fed after that. */
  feed: (chunk: Uint8Array) => boolean;
};

/** So much of one large frame is a sign of life by itself; a trickle of bytes is none. */
const PROGRESS_BYTES = 64 * 1024;

export function createEventStream(options: {
  maxFrameBytes: number;
  onFrame: (frame: StreamFrame) => void;
  /** A comment, or a good part of a large frame. */
  onSignOfLife: () => void;
}): EventStream {
  const { maxFrameBytes, onFrame, onSignOfLife } = options;
  const decoder = new TextDecoder();
  let bytesOfFrame = 0;
  let bytesSinceSign = 0;
  const heard = (): void => {
    bytesOfFrame = 0;
    bytesSinceSign = 0;
  };
  const parser = createParser({
    onEvent(frame) {
      heard();
      onFrame(frame);
    },
    onComment() {
      heard();
      onSignOfLife();
    },
  });
  return {
    feed(chunk) {
      bytesOfFrame += chunk.length;
      bytesSinceSign += chunk.length;
      parser.feed(decoder.decode(chunk, { stream: true }));
      if (bytesSinceSign > PROGRESS_BYTES) {
        bytesSinceSign = 0;
        onSignOfLife();
      }
      return bytesOfFrame <= maxFrameBytes;
    },
  };
}

// A frame by itself, as the stream would keep it.
import type { FrameToStore } from '../stored-frame.ts';

export function bytesOf(frame: FrameToStore): Buffer {
  const bytes = Buffer.alloc(frame.length);
  frame.copy(bytes, 0);
  return bytes;
}

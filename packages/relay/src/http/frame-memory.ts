// Caches the last frame of each shape for one turn of the event loop: subscribers of one channel get the same delivery
// one after another, and a frame may be large.
import type { StoredDelivery } from '../engine/engine.ts';
import { publicMessageFrame, rawMessageFrame } from '../protocol/event-stream.ts';

type Framed = { stored: StoredDelivery; frame: Buffer };

export type FrameMemory = { of: (stored: StoredDelivery, raw: boolean) => Buffer; forget: () => void };

export function createFrameMemory(): FrameMemory {
  const last: { raw: Framed | null; public: Framed | null } = { raw: null, public: null };
  return {
    forget() {
      last.raw = null;
      last.public = null;
    },
    of(stored, raw) {
      const shape = raw ? 'raw' : 'public';
      const known = last[shape];
      if (known?.stored === stored) return known.frame;
      const frame = raw ? rawMessageFrame(stored) : publicMessageFrame(stored);
      last[shape] = { stored, frame };
      return frame;
    },
  };
}

// The raw body of a request, within a limit. Plain listeners, because an async iterator costs more than
// everything else that is done to a delivery of usual size.
import type { IncomingMessage } from 'node:http';

export type Body = { ok: true; bytes: Buffer } | { ok: false; why: 'too-large' | 'no-room' | 'cut-off' };

/** `room` is asked before each part is kept. A whole body keeps its room until the caller gives it back. */
export type Room = { take: (bytes: number) => boolean; give: (bytes: number) => void };

export function createRoom(size: number): Room {
  let free = size;
  return {
    take(bytes) {
      if (bytes > free) return false;
      free -= bytes;
      return true;
    },
    give(bytes) {
      free += bytes;
    },
  };
}

export function readBody(request: IncomingMessage, limit: number, room: Room): Promise<Body> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let length = 0;
    const end = (body: Body): void => {
      request.removeListener('data', onData);
      request.removeListener('end', onEnd);
      request.removeListener('close', onCut);
      if (!body.ok) room.give(length);
      // An error may still follow, when the connection goes: nothing is given back twice.
      length = 0;
      parts.length = 0;
      resolve(body);
    };
    const onData = (part: Buffer): void => {
      if (length + part.length > limit) return end({ ok: false, why: 'too-large' });
      if (!room.take(part.length)) return end({ ok: false, why: 'no-room' });
      length += part.length;
      parts.push(part);
    };
    const onEnd = (): void => {
      const [only] = parts;
      end({
        ok: true,
        bytes: parts.length === 1 && only !== undefined ? only : Buffer.concat(parts, length),
      });
    };
    const onCut = (): void => end({ ok: false, why: 'cut-off' });
    request.on('data', onData);
    request.on('end', onEnd);
    request.on('close', onCut);
    request.on('error', onCut);
  });
}

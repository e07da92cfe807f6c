import { type RefObject, useLayoutEffect } from 'react';

/** Where not all of a chart has room, its end is shown first: what happens now. */
export function useShowEnd(frame: RefObject<HTMLElement | null>, isLive: boolean, width: number): void {
  useLayoutEffect(() => {
    if (isLive && frame.current !== null && width > 0) frame.current.scrollLeft = width;
  }, [frame, isLive, width]);
}

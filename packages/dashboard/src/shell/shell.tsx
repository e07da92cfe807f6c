// What stands around every screen: the trust bar, the way to the others, and the band of a past moment.
import { Outlet } from '@tanstack/react-router';
import { MomentProvider, useBoard } from '../live/live.tsx';
import { timeOfMoment } from '../live/moment.ts';
import { Keys } from './keys.tsx';
import { Navigation } from './navigation.tsx';
import { PastBand } from './past-band.tsx';
import { TrustBar } from './trust-bar.tsx';

export function Shell() {
  const { board, moment } = useBoard();
  const time = timeOfMoment(moment, board.at);
  return (
    <div className="flex min-h-dvh max-wide:flex-col">
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:absolute focus:z-30 focus:bg-surface focus:p-3"
      >
        Skip to the content
      </a>
      <Keys />
      <Navigation />
      <div className="flex min-w-0 flex-1 flex-col">
        <TrustBar />
        <PastBand />
        <main
          id="content"
          tabIndex={-1}
          className="min-w-0 flex-1 p-6 outline-none max-wide:p-4 max-wide:pb-20"
        >
          <MomentProvider time={time}>
            <Outlet />
          </MomentProvider>
        </main>
      </div>
    </div>
  );
}

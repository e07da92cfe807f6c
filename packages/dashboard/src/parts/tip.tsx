import { Tooltip } from 'radix-ui';
import type { ReactNode } from 'react';

/** A tooltip on hover and focus. Its trigger must be focusable. */
export function Tip({ note, children }: { note: ReactNode; children: ReactNode }) {
  return (
    <Tooltip.Root delayDuration={250}>
      <Tooltip.Trigger asChild>{children}</Tooltip.Trigger>
      <Tooltip.Portal>
        <Tooltip.Content
          sideOffset={6}
          collisionPadding={12}
          className="z-50 max-w-sm rounded-card border border-line bg-raised p-3 text-small text-text shadow-float"
        >
          {note}
        </Tooltip.Content>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}

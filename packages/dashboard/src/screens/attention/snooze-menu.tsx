import { DropdownMenu } from 'radix-ui';
import type { ReactNode } from 'react';
import { type SnoozeChoice, snoozeChoices } from './snooze-choices.ts';

export function SnoozeMenu({
  open,
  onOpenChange,
  onSnooze,
  children,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  onSnooze: (choice: SnoozeChoice) => void;
  children: ReactNode;
}) {
  return (
    <DropdownMenu.Root open={open} onOpenChange={onOpenChange}>
      <DropdownMenu.Trigger asChild>{children}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align="start"
          sideOffset={4}
          collisionPadding={12}
          className="z-50 min-w-48 rounded-card border border-line bg-raised p-1 shadow-float"
        >
          <DropdownMenu.Label className="px-2 py-1 text-tiny text-muted">Put off for</DropdownMenu.Label>
          {open &&
            snoozeChoices(Date.now()).map((choice) => (
              <DropdownMenu.Item
                key={choice.label}
                onSelect={() => onSnooze(choice)}
                className="flex h-8 cursor-default items-center rounded-control px-2 text-small text-ink outline-none data-[highlighted]:bg-sunken max-wide:h-11"
              >
                {choice.label}
              </DropdownMenu.Item>
            ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

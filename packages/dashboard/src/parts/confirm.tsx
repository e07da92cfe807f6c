// Asks for confirmation before an action with outside effects. Shows what it will do, and the error if it fails.
import { AlertDialog } from 'radix-ui';
import { type ReactNode, useState } from 'react';
import { Button } from './button.tsx';
import { Failed } from './states.tsx';

export function Confirm({
  trigger,
  title,
  children,
  label,
  dismiss = 'Cancel',
  danger = false,
  disabledBecause,
  onConfirm,
}: {
  /** The label of the button that opens it. */
  trigger: ReactNode;
  title: string;
  /** What it will do. */
  children: ReactNode;
  /** The labels of the two buttons: the one that confirms, and the one that closes the dialog. */
  label: string;
  dismiss?: string;
  /** It ends work. */
  danger?: boolean;
  /** Why the action is not available; the button's tooltip. */
  disabledBecause?: string | null;
  onConfirm: () => Promise<unknown>;
}) {
  const [open, setOpen] = useState(false);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Error | null>(null);
  const isDisabled = disabledBecause !== null && disabledBecause !== undefined;
  const act = async (): Promise<void> => {
    setBusy(true);
    setFailure(null);
    try {
      await onConfirm();
      setOpen(false);
    } catch (error) {
      setFailure(error instanceof Error ? error : new Error(String(error)));
    } finally {
      setBusy(false);
    }
  };
  return (
    <AlertDialog.Root
      open={open}
      onOpenChange={(next) => {
        setOpen(next);
        setFailure(null);
      }}
    >
      <AlertDialog.Trigger asChild disabled={isDisabled}>
        <Button title={disabledBecause ?? undefined} danger={danger} className="max-w-full">
          {trigger}
        </Button>
      </AlertDialog.Trigger>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className="fixed inset-0 z-40 bg-sunken opacity-80" />
        <AlertDialog.Content className="fixed top-1/2 left-1/2 z-50 flex w-[min(30rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 flex-col gap-3 rounded-card border border-line bg-raised p-5 shadow-float">
          <AlertDialog.Title className="text-lead">{title}</AlertDialog.Title>
          <AlertDialog.Description asChild>
            <div className="flex flex-col gap-2 text-body text-text">{children}</div>
          </AlertDialog.Description>
          {failure && <Failed error={failure} />}
          <div className="mt-2 flex flex-wrap justify-end gap-2">
            <AlertDialog.Cancel asChild>
              <Button quiet>{dismiss}</Button>
            </AlertDialog.Cancel>
            <Button disabled={busy} onClick={() => void act()} loud={!danger} danger={danger}>
              {busy ? 'Sending' : label}
            </Button>
          </div>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

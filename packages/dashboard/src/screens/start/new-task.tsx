// The button for a new task. The key `n` does the same on every screen.
import { Plus } from 'lucide-react';
import { useDisabledBecause } from '../../live/live.tsx';
import { Button } from '../../parts/button.tsx';

const OPEN = 'svc:new-task';

export function NewTaskButton() {
  const disabledBecause = useDisabledBecause();
  return (
    <Button disabled={disabledBecause !== null} title={disabledBecause ?? 'Key: n'} onClick={openNewTask}>
      <Plus aria-hidden="true" className="size-4" />
      New task
    </Button>
  );
}

export function openNewTask(): void {
  window.dispatchEvent(new Event(OPEN));
}

export function onNewTask(listener: () => void): () => void {
  window.addEventListener(OPEN, listener);
  return () => window.removeEventListener(OPEN, listener);
}

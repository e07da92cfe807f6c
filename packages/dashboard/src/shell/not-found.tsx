import { Link } from '@tanstack/react-router';
import { Empty } from '../parts/states.tsx';

export function NotFound() {
  return (
    <Empty title="There is no such page.">
      <p>
        The address may be from another version.{' '}
        <Link to="/" className="underline">
          Go to the board
        </Link>
        .
      </p>
    </Empty>
  );
}

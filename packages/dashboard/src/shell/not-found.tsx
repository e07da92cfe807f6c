import { Link } from '@tanstack/react-router';
import { Empty } from '../parts/states.tsx';

export function NotFound() {
  return (
    <Empty title="Page not found.">
      <p>
        The link may be from another version of svc.{' '}
        <Link to="/" className="underline">
          Go to the board
        </Link>
        .
      </p>
    </Empty>
  );
}

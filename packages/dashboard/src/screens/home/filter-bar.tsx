// The filters of the board. Each is part of the address.
import { useNavigate } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { Button } from '../../parts/button.tsx';
import { ChoiceField } from '../../parts/choice-field.tsx';
import { SearchField } from '../../parts/search-field.tsx';

type Option = { value: string; text: string };

/** A choice between one is none, and is left out. */
export function FilterBar({
  runs,
  projects,
  repos,
  isFiltering,
}: {
  runs: readonly Option[];
  projects: readonly Option[];
  repos: readonly Option[];
  isFiltering: boolean;
}) {
  const navigate = useNavigate();
  const showAll = (): void =>
    void navigate({
      to: '/',
      search: ({ at }) => ({ at }),
      replace: true,
    });
  return (
    <search className="flex flex-wrap items-center gap-2 max-wide:w-full max-wide:*:flex-1 max-wide:[&>label:first-of-type]:basis-full max-wide:[&_select]:w-full max-wide:[&_select]:max-w-none">
      {isFiltering && (
        <Button quiet onClick={showAll}>
          <X aria-hidden="true" className="size-3.5" />
          Show all
        </Button>
      )}
      <SearchField name="q" label="Only what has this text" placeholder="Ticket, title, author" />
      {runs.length > 1 && <ChoiceField name="run" label="Run" all="All runs" options={runs} />}
      {projects.length > 1 && (
        <ChoiceField name="project" label="Project" all="All projects" options={projects} />
      )}
      {repos.length > 1 && (
        <ChoiceField name="repo" label="Repository" all="All repositories" options={repos} />
      )}
    </search>
  );
}

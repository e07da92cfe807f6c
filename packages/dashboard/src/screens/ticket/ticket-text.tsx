// What is to be done, while no agent works on the ticket: its text from the tracker. Others wrote it, so it is shown like
// the text of an agent.
import { useQuery } from '@tanstack/react-query';
import type { TicketContent } from 'svc-monitor/src/features/tracker/ticket-text.ts';
import { client } from '../../api/client.ts';
import { AgentText } from '../../parts/agent-text.tsx';
import { OutsideLink, OutsideText } from '../../parts/outside.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Failed, Loading } from '../../parts/states.tsx';

export function TicketText({ ticket }: { ticket: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['ticket', ticket, 'text'],
    queryFn: ({ signal }) => client.get('/api/tickets/{ticket}', { params: { ticket }, signal }),
    retry: false,
  });
  return (
    <Panel title="Description">
      {data !== undefined ? (
        <Content {...data} />
      ) : error !== null ? (
        <Failed error={error} again={() => void refetch()} />
      ) : (
        <Loading what="the description" lines={3} />
      )}
    </Panel>
  );
}

function Content({ body, author, labels, comments, url, leftOut }: TicketContent) {
  return (
    <div className="flex max-w-[80ch] flex-col gap-3">
      {body === null ? (
        <p className="text-muted">It has no description.</p>
      ) : (
        <AgentText text={body} className="text-body text-text" />
      )}
      <p className="text-small text-muted">
        {author !== null && (
          <>
            By <OutsideText>{author}</OutsideText>.{' '}
          </>
        )}
        {labels.length > 0 && (
          <>
            Labels: <OutsideText>{labels.join(', ')}</OutsideText>.{' '}
          </>
        )}
        {comments.length > 0 && (
          <>
            <OutsideLink href={url}>
              {comments.length === 1 ? '1 comment' : `${comments.length} comments`}
            </OutsideLink>
            .{' '}
          </>
        )}
        {leftOut.length > 0 && <OutsideText>{`Not shown: ${leftOut.join(', ')}.`}</OutsideText>}
      </p>
    </div>
  );
}

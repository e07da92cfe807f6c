// What the verification of each merged commit found.
import { Link } from '@tanstack/react-router';
import { EventLink } from '../../parts/event-link.tsx';
import { OutsideText } from '../../parts/outside.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Pill } from '../../parts/pill.tsx';
import { verificationStanding } from '../../parts/status-meaning.ts';
import type { RunModel } from './run-model.ts';

export function VerificationPanel({ model }: { model: RunModel }) {
  const verified = model.tickets.flatMap(({ ticket, worker }) =>
    worker === null || worker.verification === null ? [] : [{ ticket, verification: worker.verification }],
  );
  return (
    <Panel
      title="Verification"
      flush
      aside={
        <Link
          to="/events"
          search={{
            event: 'orchestrator.verification.*',
            filter: `.scope.orchestrator == ${JSON.stringify(model.orchestrator)}`,
          }}
          className="text-small font-medium text-ink underline decoration-line-strong underline-offset-2"
        >
          Its events
        </Link>
      }
    >
      {verified.length === 0 ? (
        <p className="p-4 text-small text-muted">
          No merged commit of this run was verified yet. It begins after a merge, where the project asks for
          it.
        </p>
      ) : (
        <ul>
          {verified.map(({ ticket, verification }) => {
            const { meaning, words } = verificationStanding(verification.state, verification.advisory);
            return (
              <li
                key={ticket}
                className="flex flex-col gap-1 border-line border-b px-4 py-2.5 text-small last:border-b-0"
              >
                <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
                  <Link
                    to="/tickets/$ticket"
                    params={{ ticket }}
                    search={{ run: model.orchestrator }}
                    className="font-mono text-tiny font-medium text-ink underline decoration-line-strong underline-offset-2"
                  >
                    {ticket}
                  </Link>
                  <Pill meaning={meaning}>{words}</Pill>
                  <span className="font-mono text-tiny text-muted">
                    {verification.sha === null ? 'commit unknown' : verification.sha.slice(0, 7)}
                  </span>
                  <span className="ml-auto">
                    <EventLink seq={verification.seq} />
                  </span>
                </div>
                {verification.summary !== null && (
                  <OutsideText className="text-text">{verification.summary}</OutsideText>
                )}
                {verification.state === 'failed' && (
                  <span className="text-muted">
                    {verification.advisory ? 'It blocks nothing. ' : ''}
                    {verification.remediation === null ? (
                      'Nothing was filed about it.'
                    ) : (
                      <>
                        Filed as <OutsideText>{verification.remediation}</OutsideText>.
                      </>
                    )}
                  </span>
                )}
              </li>
            );
          })}
        </ul>
      )}
    </Panel>
  );
}

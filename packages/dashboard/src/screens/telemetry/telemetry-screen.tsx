// What the agents cost today and how long they waited, then cost and tokens by run, and what the backends have.
import { useWholeBoard } from '../../live/live.tsx';
import { ScreenHead } from '../../parts/panel.tsx';
import { ChoiceField, useAddressText } from '../../parts/search-field.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import { BackendPanels, type Range } from './backend-panels.tsx';
import { Spend } from './spend.tsx';
import { Today } from './today.tsx';

const ranges: Record<string, Range> = {
  '': { hours: 24, step: '30m' },
  '3h': { hours: 3, step: '5m' },
  '7d': { hours: 168, step: '3h' },
};

export function TelemetryScreen() {
  const [chosen] = useAddressText('range');
  const { board, failure, again } = useWholeBoard();
  return (
    <>
      <ScreenHead
        title="Telemetry"
        aside={
          <ChoiceField
            name="range"
            label="Time range"
            all="24 hours"
            options={[
              { value: '3h', text: '3 hours' },
              { value: '7d', text: '7 days' },
            ]}
          />
        }
      />
      <div className="flex flex-col gap-4">
        {failure !== null ? (
          <Failed error={failure} again={again} />
        ) : board === null ? (
          <Loading what="the costs" lines={5} />
        ) : (
          <>
            <Today board={board} />
            <Spend board={board} />
          </>
        )}
        <BackendPanels range={ranges[chosen] ?? { hours: 24, step: '30m' }} />
      </div>
    </>
  );
}

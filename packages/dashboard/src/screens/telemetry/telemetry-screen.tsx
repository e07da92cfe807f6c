// Cost and tokens, tools and errors of the agents, and what the daemon measured of itself.
import { ChoiceField } from '../../parts/choice-field.tsx';
import { ScreenHead } from '../../parts/panel.tsx';
import { useAddressText } from '../../parts/search-field.tsx';
import { BackendPanels, type Range } from './backend-panels.tsx';
import { OwnFigures } from './own-figures.tsx';
import { Spend } from './spend.tsx';

const ranges: Record<string, Range> = {
  '': { hours: 24, step: '30m' },
  '3h': { hours: 3, step: '5m' },
  '7d': { hours: 168, step: '3h' },
};

export function TelemetryScreen() {
  const [chosen] = useAddressText('range');
  return (
    <>
      <ScreenHead
        title="Telemetry"
        aside={
          <ChoiceField
            name="range"
            label="How far back"
            all="24 hours"
            options={[
              { value: '3h', text: '3 hours' },
              { value: '7d', text: '7 days' },
            ]}
          />
        }
      />
      <div className="flex flex-col gap-4">
        <OwnFigures />
        <Spend />
        <BackendPanels range={ranges[chosen] ?? { hours: 24, step: '30m' }} />
      </div>
    </>
  );
}

// Times and steps as the backends read them, in seconds; undefined for what they would not take.

const plainSeconds = /^\d{1,12}(?:\.\d{1,9})?$/;
const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;
const wholeNumber = /^\d{11,19}$/;
const durationParts = /(\d{1,9})(ms|[smhdwy])/g;
const duration = /^(?:\d{1,9}(?:ms|[smhdwy]))+$/;
const unitSeconds: Readonly<Record<string, number>> = {
  ms: 0.001,
  s: 1,
  m: 60,
  h: 3_600,
  d: 86_400,
  w: 604_800,
  y: 31_536_000,
};

/** Of Prometheus: seconds since 1970, or RFC 3339. */
export function readMoment(text: string): number | undefined {
  if (plainSeconds.test(text)) return Number(text);
  return isoTime.test(text) ? isoSeconds(text) : undefined;
}

/** Of Loki: the same, and a whole number of more than ten digits is nanoseconds. */
export function readLogMoment(text: string): number | undefined {
  return wholeNumber.test(text) ? Number(text) / 1e9 : readMoment(text);
}

/** Seconds, or a duration like `1m30s`; more than nothing. */
export function readStep(text: string): number | undefined {
  let seconds = 0;
  if (plainSeconds.test(text)) seconds = Number(text);
  else if (duration.test(text)) {
    for (const [, count = '', unit = ''] of text.matchAll(durationParts))
      seconds += Number(count) * (unitSeconds[unit] ?? Number.NaN);
  }
  return seconds > 0 && Number.isFinite(seconds) ? seconds : undefined;
}

function isoSeconds(text: string): number | undefined {
  const milliseconds = Date.parse(text);
  return Number.isNaN(milliseconds) ? undefined : milliseconds / 1000;
}

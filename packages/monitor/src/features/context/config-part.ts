// Which keys of the integrations belong together.
import type { ConfigPart } from '../../kernel/config/configuration.ts';
import { allOrNone } from '../../kernel/config/problems.ts';

const errorTracking = allOrNone([
  'svc.errorTracking.org',
  'svc.errorTracking.project',
  'svc.errorTracking.authToken',
]);
const analytics = allOrNone(['svc.analytics.apiKey', 'svc.analytics.projectId']);

export const contextConfig: ConfigPart = {
  check: (values) => [...errorTracking(values), ...analytics(values)],
};

// The screens, by name and key.
type Place = { to: string; name: string; key: string; narrow: boolean };

/** `narrow`: it has a place at the foot of a narrow page; the others are reached through the palette. */
export const places = [
  { to: '/', name: 'Board', key: 'h', narrow: true },
  { to: '/attention', name: 'Attention', key: 'a', narrow: true },
  { to: '/runs', name: 'Runs', key: 'r', narrow: true },
  { to: '/events', name: 'Events', key: 'e', narrow: true },
  { to: '/telemetry', name: 'Telemetry', key: 't', narrow: true },
  { to: '/archive', name: 'Archive', key: 'v', narrow: false },
  { to: '/configuration', name: 'Configuration', key: 'c', narrow: false },
  { to: '/doctor', name: 'Doctor', key: 'd', narrow: false },
] as const satisfies readonly Place[];

// The team of the tape and what it works on: a small product that books berths in harbours and places for the
// winter. Two repositories, two runs of today, one of two days ago.

export const PREFIX = 'TID';
export const webRepo = 'tideline/web';
export const apiRepo = 'tideline/api';
export const repos = [webRepo, apiRepo] as const;
export type Repo = (typeof repos)[number];

/** What the project file says of deploys. */
export const deployPolicies: Record<Repo, DeployPolicyOfRepo> = {
  [webRepo]: policy(3_600),
  [apiRepo]: policy(5_400),
};

export type DeployPolicyOfRepo = ReturnType<typeof policy>;

function policy(timeoutSec: number) {
  return {
    timeoutSec,
    productionEnvironment: 'production',
    stagingEnvironment: 'staging',
    skipDeployVerification: false,
    acceptDescendants: true,
  };
}

export const people = ['mira', 'jonas', 'adaeze', 'li', 'sofia'] as const;
export type Person = (typeof people)[number];

export const runs = {
  hours: { id: 'run-harbour-hours', name: 'Harbour hours', waves: [['TID-87', 'TID-88']] },
  berths: {
    id: 'run-guest-berths',
    name: 'Guest berths',
    waves: [
      ['TID-101', 'TID-102', 'TID-103'],
      ['TID-104', 'TID-105', 'TID-106', 'TID-107', 'TID-108', 'TID-111', 'TID-112'],
      ['TID-109', 'TID-110'],
    ],
  },
  winter: {
    id: 'run-winter-storage',
    name: 'Winter storage',
    waves: [
      ['TID-121', 'TID-122', 'TID-123', 'TID-124', 'TID-125', 'TID-126', 'TID-127', 'TID-128', 'TID-129'],
      ['TID-130', 'TID-131', 'TID-132', 'TID-133', 'TID-134', 'TID-135'],
    ],
  },
} as const;
export type TapeRun = (typeof runs)[keyof typeof runs];

export type PlannedTicket = {
  ticket: string;
  title: string;
  repo: Repo;
  run: TapeRun | null;
  pr: number;
  person: Person;
  /** Tickets that must be done before this one. */
  blockedBy: readonly string[];
};

export const plannedTickets: readonly PlannedTicket[] = [
  planned(87, 'Show opening hours in the harbour’s own time zone', webRepo, 'hours', 'li'),
  planned(88, 'Keep a closed harbour out of the search', apiRepo, 'hours', 'sofia'),
  planned(101, 'Store guest berth prices per season', apiRepo, 'berths', 'mira'),
  planned(102, 'Show free berths on the harbour map', webRepo, 'berths', 'li'),
  planned(103, 'Send the arrival code by text message', apiRepo, 'berths', 'jonas'),
  planned(104, 'Let a skipper extend a stay from the phone', webRepo, 'berths', 'adaeze', [101, 102]),
  planned(105, 'Refund the rest of a stay that ends early', apiRepo, 'berths', 'mira', [101]),
  planned(106, 'Keep a waiting list for full harbours', apiRepo, 'berths', 'jonas', [102]),
  planned(107, 'Print the berth number on the harbour pass', webRepo, 'berths', 'sofia', [102]),
  planned(108, 'Charge the tourist tax per person and night', apiRepo, 'berths', 'li', [101]),
  planned(109, 'Tell the harbour master who arrives today', webRepo, 'berths', 'adaeze', [104, 106]),
  planned(110, 'Export stays for the accounts', apiRepo, 'berths', 'mira', [105, 108]),
  planned(111, 'Show the depth of each berth', webRepo, 'berths', 'li', [102]),
  planned(112, 'Let the office cancel a stay', apiRepo, 'berths', 'sofia', [101]),
  planned(121, 'Reserve a winter place for a boat', apiRepo, 'winter', 'jonas'),
  planned(122, 'Draw the halls of the yard to scale', webRepo, 'winter', 'li'),
  planned(123, 'Find a place that fits the mast', apiRepo, 'winter', 'mira'),
  planned(124, 'Let the owner choose services for the winter', webRepo, 'winter', 'adaeze'),
  planned(125, 'Invoice winter storage in three parts', apiRepo, 'winter', 'sofia'),
  planned(126, 'Remind owners before the crane comes', webRepo, 'winter', 'li'),
  planned(127, 'Refuse a boat that is longer than its place', apiRepo, 'winter', 'jonas'),
  planned(128, 'Show which boats are covered', webRepo, 'winter', 'adaeze'),
  planned(129, 'Import last year’s list of boats', apiRepo, 'winter', 'mira'),
  planned(130, 'Show the crane schedule by the hour', webRepo, 'winter', 'li', [126]),
  planned(131, 'Lock a hall while the crane moves', apiRepo, 'winter', 'jonas', [121]),
  planned(132, 'Send the launch date to the owner’s calendar', apiRepo, 'winter', 'sofia', [121]),
  planned(133, 'Let the yard change the order of launches', webRepo, 'winter', 'adaeze', [122]),
  planned(134, 'Warn of strong wind on launch day', webRepo, 'winter', 'mira', [126]),
  planned(135, 'Print labels for trailers', apiRepo, 'winter', 'jonas', [129]),
  planned(141, 'Offer the shore power meter as a service', apiRepo, null, 'sofia'),
  planned(142, 'Read the harbour’s tide table', webRepo, null, 'li'),
];

/** `plannedTicket('TID-104')` */
export function plannedTicket(ticket: string): PlannedTicket {
  const found = plannedTickets.find((one) => one.ticket === ticket);
  if (found === undefined) throw new Error(`The tape has no ticket ${ticket}`);
  return found;
}

function planned(
  number: number,
  title: string,
  repo: Repo,
  run: keyof typeof runs | null,
  person: Person,
  blockedBy: readonly number[] = [],
): PlannedTicket {
  return {
    ticket: `${PREFIX}-${number}`,
    title,
    repo,
    run: run && runs[run],
    pr: 300 + number,
    person,
    blockedBy: blockedBy.map((other) => `${PREFIX}-${other}`),
  };
}

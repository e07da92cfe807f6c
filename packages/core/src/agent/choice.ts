// How the agent of a ticket is run: through the protocol, or as the command line of `svc.orchestration.agent`.

export type ChosenAgent =
  | {
      name: string;
      protocol: true;
      argv: readonly [program: string, ...args: string[]];
      /** In addition to what every agent gets. */
      env: Readonly<Record<string, string>>;
      mode: string | null;
      model: string | null;
    }
  /** `reason` is shown to people: why svc cannot talk to it. */
  | { name: string; protocol: false; reason: string };

/** Floor of each folder of `src`; imports go to the same folder, to a lower floor, or along `SIDEWAYS`. */
export const FLOORS: Readonly<Record<string, number>> = {
  base: 0,
  proto: 1,
  merkle: 1,
  comet: 1,
  chain: 2,
  client: 2,
  storage: 2,
  ops: 2,
  node: 3,
  sidecar: 3,
  relayer: 3,
  courier: 3,
  watchdog: 3,
  report: 3,
  web: 2,
  cli: 4,
  daemons: 4,
};

/** Imports within one floor that are allowed, from folder to folder. */
export const SIDEWAYS: ReadonlySet<string> = new Set([
  "merkle>proto",
  "comet>proto",
  "comet>merkle",
  "storage>ops",
  "web>ops",
  "report>watchdog",
  "report>relayer",
  "courier>relayer",
  "cli>daemons",
]);

/** Folders that know a chain only through its wire. */
export const WIRE_ONLY: readonly string[] = ["relayer", "watchdog", "client", "courier"];

/** Folders that hold the state machine and its daemons' counterparts never meet. */
export const BEHIND_THE_WIRE: readonly string[] = ["chain", "node", "sidecar"];

/** Folders without clock, randomness, environment, or async. */
export const DETERMINISTIC: readonly string[] = ["proto", "merkle", "comet", "chain"];

/** Words that must not stand in the code of deterministic folders. */
export const FORBIDDEN_IN_DETERMINISTIC: readonly RegExp[] = [
  /\bDate\.now\b/,
  /\bnew Date\(\)/,
  /\bperformance\.now\b/,
  /\bMath\.random\b/,
  /\brandomBytes\b/,
  /\bprocess\.env\b/,
  /\basync\b/,
  /\bawait\b/,
  /\bsetTimeout\b/,
  /\bparseFloat\b/,
];

/** Modules allowed to be imported by deterministic folders from Node itself. */
export const DETERMINISTIC_NODE_MODULES: ReadonlySet<string> = new Set(["node:crypto", "node:buffer"]);

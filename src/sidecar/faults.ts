import { CodedError } from "../base/errors.ts";

/** Everything that can be made to go wrong, and what it looks like from outside. */
const FAULTS = {
  "sidecar-down": "all three ports refuse; counters begin again at zero when it is cleared",
  "all-prices-missing": "prices answer {} with a fresh timestamp",
  "pair-missing": "the configured pairs are absent from the answer",
  slow: "prices answer after a delay that is longer than the node waits",
  "http-500": "prices answer 500, oracle is not running",
  "websocket-providers-down": "every WebSocket provider fails; prices vanish once they are too old",
  "timestamp-stale": "the price loop hangs: timestamp, prices and counters stand still",
} as const;

/** The name of a fault. */
export type FaultName = keyof typeof FAULTS;

/** A fault and whether it is on. */
export interface FaultState {
  readonly name: FaultName;
  readonly on: boolean;
  readonly effect: string;
}

/** A name that no fault has. */
export class UnknownFaultError extends CodedError<{
  readonly code: "unknown-fault";
  readonly name: string;
}> {}

/** The names, in the order of the table. */
const FAULT_NAMES: readonly FaultName[] = Object.keys(FAULTS).filter(isFaultName);

/** Reads a fault's name. @throws {UnknownFaultError} that lists the names there are. */
export function parseFaultName(name: string): FaultName {
  if (isFaultName(name)) return name;
  const text = `there is no fault ${JSON.stringify(name.slice(0, 60))}; choose one of ${FAULT_NAMES.join(", ")}`;
  throw new UnknownFaultError({ code: "unknown-fault", name }, text);
}

/** All faults, given those that are on. */
export function listFaults(on: ReadonlySet<FaultName>): readonly FaultState[] {
  return FAULT_NAMES.map((name) => ({ name, on: on.has(name), effect: FAULTS[name] }));
}

function isFaultName(name: string): name is FaultName {
  return Object.hasOwn(FAULTS, name);
}

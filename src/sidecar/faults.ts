import { CodedError } from "../base/errors.ts";

/** Faults that can be injected, with their visible effect. */
const FAULTS = {
  "sidecar-down": "all ports refuse connections; counters begin at zero when the fault is switched off",
  "all-prices-missing": "the prices response is {} with a current timestamp",
  "pair-missing": "the configured pairs are absent from the prices response",
  slow: "the prices response is delayed for longer than the timeout of the node",
  "http-500": "the prices response is HTTP 500, oracle is not running",
  "websocket-providers-down":
    "every WebSocket provider fails; prices disappear when they exceed the maximum age",
  "timestamp-stale": "the price loop hangs: timestamp, prices and counters do not change",
} as const;

export type FaultName = keyof typeof FAULTS;

export interface FaultState {
  readonly name: FaultName;
  readonly on: boolean;
  readonly effect: string;
}

/** Thrown for an unknown fault name. */
export class UnknownFaultError extends CodedError<{
  readonly code: "unknown-fault";
  readonly name: string;
}> {}

/** All names, in the order of the table. */
const FAULT_NAMES: readonly FaultName[] = Object.keys(FAULTS).filter(isFaultName);

/** Checks a fault name. Throws {@link UnknownFaultError}, whose message lists all names. */
export function parseFaultName(name: string): FaultName {
  if (isFaultName(name)) return name;
  const text = `there is no fault ${JSON.stringify(name.slice(0, 60))}; choose one of ${FAULT_NAMES.join(", ")}`;
  throw new UnknownFaultError({ code: "unknown-fault", name }, text);
}

/** Returns the state of all faults. `on` has the faults that are switched on. */
export function listFaults(on: ReadonlySet<FaultName>): readonly FaultState[] {
  return FAULT_NAMES.map((name) => ({ name, on: on.has(name), effect: FAULTS[name] }));
}

function isFaultName(name: string): name is FaultName {
  return Object.hasOwn(FAULTS, name);
}

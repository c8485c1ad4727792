import { didYouMean } from "./did-you-mean.ts";
import type { Clock } from "./clock.ts";
import { CodedError } from "./errors.ts";

/** A fault that can be injected into a simulated component. */
export interface FaultState {
  readonly name: string;
  readonly on: boolean;
  /** Time at which the fault switches itself off, ms since the Unix epoch; undefined if it stays on. */
  readonly untilMs: number | undefined;
  readonly effect: string;
}

export class UnknownFaultError extends CodedError<{
  readonly code: "unknown-fault";
  readonly name: string;
}> {}

export type FaultSwitches<Name extends string> = ReturnType<typeof createFaultSwitches<Name>>;

/** Creates fault switches that are all off. `effects` maps each fault's name to a description of its effect. */
export function createFaultSwitches<Name extends string>(
  effects: Readonly<Record<Name, string>>,
  clock: Pick<Clock, "nowMs">,
) {
  const untilMs = new Map<string, number | undefined>();
  const isOn = (name: string): boolean => {
    const end = untilMs.get(name);
    if (end !== undefined && end <= clock.nowMs()) untilMs.delete(name);
    return untilMs.has(name);
  };
  return {
    has: (name: Name): boolean => isOn(name),
    /** Switches a fault off, or on for `forMs` (by default, until a later call). A later call replaces an earlier call. */
    set: (name: Name, on: boolean, forMs?: number): void => {
      if (on) untilMs.set(name, forMs === undefined ? undefined : clock.nowMs() + forMs);
      else untilMs.delete(name);
    },
    /** Lists all faults in the order of `effects`. */
    list: (): readonly FaultState[] =>
      Object.entries<string>(effects).map(([name, effect]) => {
        const on = isOn(name);
        return { name, on, untilMs: on ? untilMs.get(name) : undefined, effect };
      }),
  };
}

export function unknownFault(name: string, names: readonly string[]): UnknownFaultError {
  const text = `unknown fault ${JSON.stringify(name.slice(0, 60))}${didYouMean(name, names) || "; list them with relaywatch localnet fault"}`;
  return new UnknownFaultError({ code: "unknown-fault", name }, text);
}

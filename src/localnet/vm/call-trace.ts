/** The source from which a running call's VM gas is read. */
interface GasSource {
  /** VM gas used outside the VM. */
  readonly external: bigint;
  gasLeft(): bigint;
}

/** What is known about a call when its trace begins. */
export interface TracedCall {
  readonly gas: GasSource;
  /** VM gas available to the call. */
  readonly limit: bigint;
  /** Returns the name of a function in the module, if it has one. */
  readonly functionName: (index: number) => string | undefined;
}

/** Follows one contract call to find out where the gas went. It changes neither the gas nor the result. */
export interface CallTrace {
  /** A function in the module begins. */
  enter(functionIndex: number): void;
  /** The innermost function ends. */
  leave(): void;
  /** Runs a host function. */
  host<T>(name: string, run: () => T): T;
  /** The call ended. `error`: text of the error that ended it, if any. */
  end(error: string | undefined): void;
  /** Decoding the result, after the end of the call, used this much VM gas. */
  decode(gas: bigint): void;
}

/** Begins the trace for a call. */
export type StartTrace = (call: TracedCall) => CallTrace;

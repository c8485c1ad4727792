/** The source from which the VM gas of a running call is read. */
interface GasSource {
  /** VM gas used outside the VM. */
  readonly external: bigint;
  gasLeft(): bigint;
}

/** What is known about a call when its tracing begins. */
export interface TracedCall {
  readonly gas: GasSource;
  /** VM gas available to the call. */
  readonly limit: bigint;
  /** Returns the name of a function in the module, if it has one. */
  readonly functionName: (index: number) => string | undefined;
}

/** Traces one contract call to find out where its gas was used. The trace changes neither the gas nor the result. */
export interface CallTrace {
  /** Called when a function in the module begins. */
  enter(functionIndex: number): void;
  /** Called when the innermost function ends. */
  leave(): void;
  /** Runs a host function. */
  host<T>(name: string, run: () => T): T;
  /** Called when the call has ended. `error`: text of the error that ended it, if any. */
  end(error: string | undefined): void;
  /** Called with the VM gas used, after the end of the call, to decode the result. */
  decode(gas: bigint): void;
}

/** Begins tracing a call. */
export type StartTrace = (call: TracedCall) => CallTrace;

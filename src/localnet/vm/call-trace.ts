/** Where the VM gas of a running call is read from. */
interface GasSource {
  /** VM gas used outside of the VM. */
  readonly external: bigint;
  gasLeft(): bigint;
}

/** What is known of a call when its trace begins. */
export interface TracedCall {
  readonly gas: GasSource;
  /** The call's VM gas. */
  readonly limit: bigint;
  /** Name of a module's function, if it has one. */
  readonly functionName: (index: number) => string | undefined;
}

/** Follows one call of a contract, so that it can tell where the gas went. It changes neither gas nor result. */
export interface CallTrace {
  /** A function of the module begins. */
  enter(functionIndex: number): void;
  /** The innermost function ends. */
  leave(): void;
  /** Runs a host function. */
  host<T>(name: string, run: () => T): T;
  /** The call ended. `error`: text of the error that ended it. */
  end(error: string | undefined): void;
  /** The result was decoded for this VM gas, after the end. */
  decode(gas: bigint): void;
}

/** Begins the trace of a call. */
export type StartTrace = (call: TracedCall) => CallTrace;

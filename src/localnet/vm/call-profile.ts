import { demangle } from "./demangle.ts";
import type { GasRecorder } from "./gas-recorder.ts";

/**
 * Most calls of functions in one profile: about ten seconds. A transaction that uses all gas of a block may call a thousand times as many
 * without doing anything.
 */
const MAX_CALLS = 20_000_000;

/** Thrown when a transaction calls more functions than a profile may have. */
export class ProfileTooLargeError extends Error {
  constructor() {
    super(`more than ${MAX_CALLS} calls of functions: this is too much for a profile`);
  }
}

/** What the gas of a running call is read from. */
interface GasSource {
  /** VM gas used outside of the VM. */
  readonly external: bigint;
  gasLeft(): bigint;
}

/** The profile of one call of a contract. It adds the gas since the last event to the function that was running. */
export class CallProfile {
  private readonly recorder: GasRecorder;
  private readonly execution: GasSource;
  private readonly functionName: (index: number) => string | undefined;
  private readonly limit: bigint;
  /** Functions by index, and host functions by name; the innermost last. */
  private readonly running: (number | string)[] = [];
  private readonly depth: number;
  /** VM gas that was used within the VM at the last event. */
  private used = 0n;
  private failedIn: readonly (number | string)[] | undefined;

  constructor(
    recorder: GasRecorder,
    execution: GasSource,
    module: { readonly limit: bigint; readonly functionName: (index: number) => string | undefined },
  ) {
    this.recorder = recorder;
    this.execution = execution;
    this.functionName = module.functionName;
    this.limit = module.limit;
    this.depth = recorder.depth();
  }

  enter(index: number): void {
    this.recorder.calls += 1;
    if (this.recorder.calls > MAX_CALLS) throw new ProfileTooLargeError();
    this.flush();
    this.running.push(index);
    this.recorder.enterMerged("function", index, () => this.nameOf(index));
  }

  leave(): void {
    this.flush();
    this.running.pop();
    this.recorder.leaveTo(this.recorder.depth() - 1);
  }

  /** Runs a host function in a place of its own. */
  host<T>(name: string, run: () => T): T {
    const depth = this.recorder.depth();
    const { length } = this.running;
    this.flush();
    this.running.push(name);
    this.recorder.enterMerged("host", name, () => name);
    try {
      return run();
    } catch (thrown) {
      this.failedIn ??= [...this.running];
      throw thrown;
    } finally {
      this.flush();
      this.running.length = length;
      this.recorder.leaveTo(depth);
    }
  }

  /** Ends the profile. `error` is the text of the error that ended the call, if it failed. */
  end(error: string | undefined): void {
    this.flush();
    this.recorder.leaveTo(this.depth);
    if (error === undefined) return;
    const stack = (this.failedIn ?? this.running).map((one) => this.nameOf(one)).toReversed();
    this.recorder.fail({ error, stack });
  }

  private flush(): void {
    const { execution } = this;
    const used = this.limit - execution.gasLeft() - execution.external;
    this.recorder.add(used - this.used);
    this.used = used;
  }

  private nameOf(one: number | string): string {
    if (typeof one === "string") return one;
    const name = this.functionName(one);
    return name === undefined ? `func[${one}]` : demangle(name);
  }
}

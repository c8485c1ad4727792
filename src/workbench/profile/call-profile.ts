import type { CallTrace, StartTrace, TracedCall } from "../../localnet/vm/call-trace.ts";
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

/** Returns what records the gas of calls. */
export function recordCalls(recorder: GasRecorder): StartTrace {
  return (call) => new CallProfile(recorder, call);
}

/** The profile of one call of a contract. It adds the gas since the last event to the function that was running. */
class CallProfile implements CallTrace {
  private readonly recorder: GasRecorder;
  private readonly call: TracedCall;
  /** Functions by index, and host functions by name; the innermost last. */
  private readonly running: (number | string)[] = [];
  private readonly depth: number;
  /** VM gas that was used within the VM at the last event. */
  private used = 0n;
  private failedIn: readonly (number | string)[] | undefined;

  constructor(recorder: GasRecorder, call: TracedCall) {
    this.recorder = recorder;
    this.call = call;
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

  end(error: string | undefined): void {
    this.flush();
    this.recorder.leaveTo(this.depth);
    if (error === undefined) return;
    const stack = (this.failedIn ?? this.running).map((one) => this.nameOf(one)).toReversed();
    this.recorder.fail({ error, stack });
  }

  decode(gas: bigint): void {
    this.recorder.addBelow("cost", "result decoding", gas);
  }

  private flush(): void {
    const { gas, limit } = this.call;
    const used = limit - gas.gasLeft() - gas.external;
    this.recorder.add(used - this.used);
    this.used = used;
  }

  private nameOf(one: number | string): string {
    if (typeof one === "string") return one;
    const name = this.call.functionName(one);
    return name === undefined ? `func[${one}]` : demangle(name);
  }
}

import type { EntryPoint } from "../../../vm/host.ts";
import type { Context } from "../../runtime/context.ts";
import { goPanic, type ModuleError, wrapErrors } from "../../runtime/errors.ts";
import { parseAcknowledgedResponse, parseOpenResult, parseResponse } from "./contract-result.ts";
import { ContractError, type ContractResponse } from "./contract.ts";
import type { EntryPoints } from "./entry-points.ts";
import { ErrExecuteFailed, ErrVMError, MODULE_NAME } from "./keys.ts";
import type { LoadedContract } from "./keeper.ts";

/** The IBC entry points. */
type IbcEntryPoint = Extract<EntryPoint, `ibc_${string}`>;

/** A packet's outcome. `refused` contains the contract's error text; `accepted` contains the acknowledgement. */
export type ReceiveOutcome =
  | { readonly kind: "refused"; readonly text: string }
  | { readonly kind: "accepted"; readonly acknowledgement: Uint8Array | undefined };

/** Calls IBC entry points with JSON. Calls cost only the gas used and emit no event of their own. Methods throw `ModuleError`. */
export interface IbcCalls {
  /**
   * Calls `ibc_channel_open`. Returns the version that the contract chooses, or empty if it chooses none. A contract error does not
   * reject the channel: as on the deployed chain, only a virtual machine failure does.
   */
  readonly open: (context: Context, address: string, message: Uint8Array) => string;
  /** Calls an entry point whose response contains no data, and runs the response's messages. */
  readonly notify: (
    context: Context,
    address: string,
    call: {
      readonly entryPoint: Exclude<IbcEntryPoint, "ibc_channel_open" | "ibc_packet_receive">;
      readonly message: Uint8Array;
    },
  ) => void;
  /** Calls `ibc_packet_receive` and runs the response's messages, whose replies may replace the acknowledgement. */
  readonly receive: (context: Context, address: string, message: Uint8Array) => ReceiveOutcome;
}

interface IbcCallDeps {
  readonly entryPoints: Pick<EntryPoints, "ibc">;
  readonly load: (context: Context, address: string) => LoadedContract;
  /** Limits the call depth. */
  readonly guard: <T>(work: () => T) => T;
  /** Converts the contract's error to ErrExecuteFailed. */
  readonly run: <T>(call: () => T) => T;
  /** Emits a response's events and runs its messages. Returns the call's data. */
  readonly respond: (context: Context, address: string, response: ContractResponse) => Uint8Array | undefined;
}

/** Creates the calls. */
export function createIbcCalls({ entryPoints, load, guard, run, respond }: IbcCallDeps): IbcCalls {
  const { ibc } = entryPoints;
  return {
    open: (context, address, message) =>
      guard(() => {
        const code = load(context, address);
        const call = { entryPoint: "ibc_channel_open", message } as const;
        return wrapErrors(asExecuteFailed, () => ibc(context, code, call, parseOpenResult));
      }),
    notify: (context, address, call) =>
      guard(() => {
        const code = load(context, address);
        const response = wrapErrors(asExecuteFailed, () =>
          run(() => ibc(context, code, call, (result) => parseResponse(result, address))),
        );
        respond(context, address, response);
      }),
    receive: (context, address, message) =>
      guard(() => {
        const code = load(context, address);
        const call = { entryPoint: "ibc_packet_receive", message } as const;
        const response = orRefused(() =>
          ibc(context, code, call, (result) => parseAcknowledgedResponse(result, address)),
        );
        if (typeof response === "string") return { kind: "refused", text: response };
        return { kind: "accepted", acknowledgement: respond(context, address, response) };
      }),
  };
}

/** Converts a virtual machine error, which has a different code here than elsewhere. */
function asExecuteFailed(error: ModuleError): ModuleError {
  return isVmError(error) ? ErrExecuteFailed(textOf(error)) : error;
}

/** Returns the contract's error as text. A virtual machine error is a panic, so the relayer's transaction fails. */
function orRefused<T>(call: () => T): T | string {
  try {
    return wrapErrors((error) => (isVmError(error) ? goPanic(textOf(error)) : error), call);
  } catch (error) {
    if (error instanceof ContractError) return error.message;
    throw error;
  }
}

function isVmError({ codespace, code }: ModuleError): boolean {
  return codespace === MODULE_NAME && code === ErrVMError().code;
}

/** Returns an error's text without its description. */
function textOf({ wraps }: ModuleError): string {
  return wraps.toReversed().join(": ");
}

import { errorText } from "../../../../platform/base/errors.ts";
import type { Context } from "../../runtime/context.ts";
import { ModuleError, unregisteredError, wrapErrors } from "../../runtime/errors.ts";
import type { Packet } from "../ibc/channel/packet.ts";
import { ErrContractError, ErrRateLimitExceeded } from "./errors.ts";
import { type LimiterCall, limiterMessage } from "./limiter-message.ts";
import { requireAddress } from "./params.ts";
import { readTransferData, type TransferData } from "./transfer-data.ts";
import type { Environment } from "./types.ts";

/**
 * Asks the contract whether a packet may pass. The contract notes it. Throws `ModuleError`: rate-limited-ibc/2 when the contract
 * refuses or fails, whatever its reason; an unregistered one when the address or the data is invalid.
 */
export function checkLimits(
  context: Context,
  call: Exclude<LimiterCall, "undo_send">,
  { contract, packet }: { readonly contract: string; readonly packet: Packet },
  environment: Environment,
): void {
  requireAddress(environment.bech32Prefix, contract);
  const data = dataOf(packet, "failed to CheckAndUpdateRateLimits");
  wrapErrors(
    (error) => ErrRateLimitExceeded(error.message),
    () => environment.contracts.sudo(context, contract, limiterMessage(call, packet, data)),
  );
}

/** Tells the contract that a packet it let out did not arrive. Throws `ModuleError`, rate-limited-ibc/4 for the contract itself. */
export function undoSend(
  context: Context,
  { contract, packet }: { readonly contract: string; readonly packet: Packet },
  environment: Environment,
): void {
  const words = "failed to UndoSendRateLimit";
  requireAddress(environment.bech32Prefix, contract, words);
  const message = limiterMessage("undo_send", packet, dataOf(packet, words));
  wrapErrors(
    (error) => ErrContractError(error.message),
    () => environment.contracts.sudo(context, contract, message),
  );
}

function dataOf({ data }: Packet, words: string): TransferData {
  try {
    return readTransferData(data);
  } catch (error) {
    throw error instanceof ModuleError ? error : unregisteredError(`${words}: ${errorText(error)}`);
  }
}

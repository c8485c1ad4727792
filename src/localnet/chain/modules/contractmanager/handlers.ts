import { fromUtf8 } from "../../../../platform/base/bytes.ts";
import { errorText } from "../../../../platform/base/errors.ts";
import type {
  MsgResubmitFailure,
  MsgUpdateParams,
} from "../../../../cosmos/proto/gen/neutron/contractmanager/tx.ts";
import { parseAddress } from "../../runtime/address.ts";
import type { Context } from "../../runtime/context.ts";
import { unregisteredError, ErrInvalidRequest, ErrNotFound, wrapErrors } from "../../runtime/errors.ts";
import { ErrNotContractResubmission, FailedToResubmitFailure, IncorrectFailureToResubmit } from "./errors.ts";
import { getFailure, removeFailure, storedParams } from "./failures.ts";
import type { Environment } from "./types.ts";

/** MsgUpdateParams, from the authority only. */
export function updateParams(context: Context, message: MsgUpdateParams, environment: Environment): void {
  const { authority, params = { sudoCallGasLimit: 0n } } = message;
  requireAddress(authority, { message: "MsgUpdateParams", field: "authority" }, environment);
  if (authority !== environment.authority)
    throw ErrInvalidRequest(`invalid authority; expected ${environment.authority}, got ${authority}`);
  storedParams.set(context, params);
}

/**
 * MsgResubmitFailure, from the contract whose call failed: makes the call again, with the gas of the transaction, and removes
 * the failure. Keeps it when the contract fails again.
 */
export function resubmitFailure(
  context: Context,
  { sender, failureId }: MsgResubmitFailure,
  environment: Environment,
): void {
  requireAddress(sender, { message: "MsgResubmitFailure", field: "sender" }, environment);
  if (!environment.contracts.isContract(context, sender))
    throw ErrNotContractResubmission("sender in resubmit request is not a smart contract");
  const failure = getFailure(context, sender, failureId);
  if (failure === undefined) throw ErrNotFound("no failure with given FailureId found to resubmit");
  if (failure.sudoPayload.length === 0)
    throw IncorrectFailureToResubmit(
      `cannot resubmit failure without sudo payload; failureId = ${failureId}`,
    );
  wrapErrors(
    (error) =>
      FailedToResubmitFailure(`cannot resubmit failure; failureId = ${failureId}; err = ${error.message}`),
    () => environment.contracts.sudo(context, sender, fromUtf8(failure.sudoPayload)),
  );
  removeFailure(context, failure);
}

function requireAddress(
  text: string,
  { message, field }: { readonly message: string; readonly field: string },
  { bech32Prefix }: Environment,
): void {
  try {
    parseAddress(bech32Prefix, text);
  } catch (error) {
    throw unregisteredError(`failed to validate ${message}: ${field} is invalid: ${errorText(error)}`);
  }
}

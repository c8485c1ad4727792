import type * as wire from "../../../proto/gen/ibc/core/client/v1/tx.ts";
import { errorText } from "../../../base/errors.ts";
import { parseAddress } from "../../runtime/address.ts";
import { LOCALHOST, unpackClientState } from "./client/client-state.ts";
import { unpackConsensusState } from "./client/consensus-state.ts";
import { ErrIbcInvalidAddress, ErrInvalidClient } from "./errors.ts";
import { validateClientId } from "./identifiers.ts";
import { type ClientMessage, unpackClientMessage } from "./tendermint/client-message.ts";
import { validateUpdateHeader } from "./tendermint/header.ts";
import { validateMisbehaviour } from "./tendermint/misbehaviour.ts";
import type { VerifyingBlock } from "./tendermint/verify-header.ts";
import { validateClientState, validateConsensusState } from "./tendermint/validate-client.ts";

/** Stateless checks of MsgCreateClient (`ValidateBasic`). Throws `ModuleError`. */
export function validateCreateClient(message: wire.MsgCreateClient, bech32Prefix: string): void {
  requireAddress(bech32Prefix, message.signer);
  const client = unpackClientState(message.clientState);
  if (client.type === LOCALHOST) {
    throw ErrInvalidClient("localhost client can only be created on chain initialization");
  }
  validateClientState(client.state);
  validateConsensusState(unpackConsensusState(message.consensusState));
}

/**
 * Stateless checks of MsgUpdateClient (`ValidateBasic`): as in ibc-go, the client id is checked last. Throws
 * `ModuleError`.
 */
export function validateUpdateClient(
  message: wire.MsgUpdateClient,
  bech32Prefix: string,
  block: VerifyingBlock,
): void {
  requireAddress(bech32Prefix, message.signer);
  validateClientMessage(unpackClientMessage(message.clientMessage), block);
  validateClientId(message.clientId);
}

/** Stateless checks of MsgSubmitMisbehaviour (`ValidateBasic`). Throws `ModuleError`. */
export function validateSubmitMisbehaviour(
  message: wire.MsgSubmitMisbehaviour,
  bech32Prefix: string,
  block: VerifyingBlock,
): void {
  requireAddress(bech32Prefix, message.signer);
  validateClientMessage(unpackClientMessage(message.misbehaviour), block);
  validateClientId(message.clientId);
}

/** Stateless checks of MsgRecoverClient (`ValidateBasic`). Throws `ModuleError`. */
export function validateRecoverClient(message: wire.MsgRecoverClient, bech32Prefix: string): void {
  requireAddress(bech32Prefix, message.signer);
  validateClientId(message.subjectClientId);
  validateClientId(message.substituteClientId);
}

function validateClientMessage(message: ClientMessage, block: VerifyingBlock): void {
  if (message.kind === "header") validateUpdateHeader(message.header);
  else validateMisbehaviour(message.misbehaviour, block);
}

function requireAddress(bech32Prefix: string, address: string): void {
  try {
    parseAddress(bech32Prefix, address);
  } catch (error) {
    throw ErrIbcInvalidAddress(`string could not be parsed as address: ${errorText(error)}`);
  }
}

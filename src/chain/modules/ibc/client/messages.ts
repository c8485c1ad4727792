import type * as wire from "../../../../proto/gen/ibc/core/client/v1/tx.ts";
import { LOCALHOST, unpackClientState } from "./client-state.ts";
import { unpackConsensusState } from "./consensus-state.ts";
import { ErrInvalidClient } from "../errors.ts";
import { validateClientId } from "../identifiers.ts";
import { requireSigner } from "../signed-message.ts";
import { type ClientMessage, unpackClientMessage } from "../tendermint/client-message.ts";
import { validateUpdateHeader } from "../tendermint/header.ts";
import { validateMisbehaviour } from "../tendermint/misbehaviour.ts";
import type { VerifyingBlock } from "../tendermint/verify-header.ts";
import { validateClientState, validateConsensusState } from "../tendermint/validate-client.ts";

/** Stateless checks of MsgCreateClient (`ValidateBasic`). Throws `ModuleError`. */
export function validateCreateClient(message: wire.MsgCreateClient, bech32Prefix: string): void {
  requireSigner(bech32Prefix, message);
  const client = unpackClientState(message.clientState);
  if (client.type === LOCALHOST) {
    throw ErrInvalidClient("localhost client can only be created on chain initialization");
  }
  validateClientState(client.state);
  validateConsensusState(unpackConsensusState(message.consensusState));
}

/**
 * Stateless checks of MsgUpdateClient (`ValidateBasic`): as in ibc-go, the client id is checked last. Without a block, the
 * signatures of a misbehaviour are left out: the sender must have paid before they are verified. Throws `ModuleError`.
 */
export function validateUpdateClient(
  message: wire.MsgUpdateClient,
  bech32Prefix: string,
  block?: VerifyingBlock,
): void {
  requireSigner(bech32Prefix, message);
  validateClientMessage(unpackClientMessage(message.clientMessage), block);
  validateClientId(message.clientId);
}

/** Stateless checks of MsgSubmitMisbehaviour, as {@link validateUpdateClient}. Throws `ModuleError`. */
export function validateSubmitMisbehaviour(
  message: wire.MsgSubmitMisbehaviour,
  bech32Prefix: string,
  block?: VerifyingBlock,
): void {
  requireSigner(bech32Prefix, message);
  validateClientMessage(unpackClientMessage(message.misbehaviour), block);
  validateClientId(message.clientId);
}

/** Stateless checks of MsgRecoverClient (`ValidateBasic`). Throws `ModuleError`. */
export function validateRecoverClient(message: wire.MsgRecoverClient, bech32Prefix: string): void {
  requireSigner(bech32Prefix, message);
  validateClientId(message.subjectClientId);
  validateClientId(message.substituteClientId);
}

function validateClientMessage(message: ClientMessage, block: VerifyingBlock | undefined): void {
  if (message.kind === "header") validateUpdateHeader(message.header);
  else if (block !== undefined) validateMisbehaviour(message.misbehaviour, block);
}

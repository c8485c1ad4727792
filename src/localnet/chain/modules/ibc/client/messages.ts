import type { Params } from "../../../../../cosmos/proto/gen/ibc/core/client/v1/client.ts";
import type * as wire from "../../../../../cosmos/proto/gen/ibc/core/client/v1/tx.ts";
import { latestHeightOf, unpackClientState } from "./client-state.ts";
import { LOCALHOST, TENDERMINT_TYPE } from "../host/identifiers.ts";
import { unpackConsensusState } from "./consensus-state.ts";
import {
  ErrIbcInvalidHeight,
  ErrInvalidClientType,
  ErrInvalidSubstitute,
  ErrInvalidUpgradeClient,
} from "../host/errors.ts";
import { validateClientId } from "../host/identifiers.ts";
import { validateClientParams } from "../host/params.ts";
import { requireSigner } from "../host/handler-forms.ts";
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
    if (latestHeightOf(client).revisionHeight === 0n)
      throw ErrIbcInvalidHeight("local revision height cannot be zero");
  } else validateClientState(client.state);
  const consensusState = unpackConsensusState(message.consensusState);
  if (client.type !== TENDERMINT_TYPE)
    throw ErrInvalidClientType("client type for client state and consensus state do not match");
  validateConsensusState(consensusState);
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
  if (message.subjectClientId === message.substituteClientId)
    throw ErrInvalidSubstitute("subject and substitute clients must be different");
}

/** Stateless checks of MsgUpgradeClient (`ValidateBasic`): as in ibc-go, the signer is checked late. Throws `ModuleError`. */
export function validateUpgradeClient(message: wire.MsgUpgradeClient, bech32Prefix: string): void {
  const { type } = unpackClientState(message.clientState);
  unpackConsensusState(message.consensusState);
  if (type !== TENDERMINT_TYPE)
    throw ErrInvalidUpgradeClient(
      `consensus state's client-type does not match client. expected: ${type}, got: ${TENDERMINT_TYPE}`,
    );
  if (message.proofUpgradeClient.length === 0)
    throw ErrInvalidUpgradeClient("proof of upgrade client cannot be empty");
  if (message.proofUpgradeConsensusState.length === 0)
    throw ErrInvalidUpgradeClient("proof of upgrade consensus state cannot be empty");
  requireSigner(bech32Prefix, message);
  validateClientId(message.clientId);
}

/** Stateless checks of MsgUpdateParams (`ValidateBasic`). Throws `ModuleError`. */
export function validateUpdateParams(message: wire.MsgUpdateParams, bech32Prefix: string): void {
  requireSigner(bech32Prefix, message);
  validateClientParams(paramsIn(message));
}

/** Returns the params of a message. Absent params are empty, as in Go. */
export function paramsIn({ params }: wire.MsgUpdateParams): Params {
  return params ?? { allowedClients: [] };
}

function validateClientMessage(message: ClientMessage, block: VerifyingBlock | undefined): void {
  if (message.kind === "header") validateUpdateHeader(message.header);
  else if (block !== undefined) validateMisbehaviour(message.misbehaviour, block);
}

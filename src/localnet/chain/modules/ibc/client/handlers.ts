import { CometError } from "../../../../../cosmos/comet/comet-error.ts";
import { revisionOfChainId } from "../../../../../cosmos/comet/ibc-height.ts";
import { isTrustLevel } from "../../../../../cosmos/comet/light-client.ts";
import { MAX_CHAIN_ID_LENGTH, validateHash } from "../../../../../cosmos/comet/validate.ts";
import type { Params } from "../../../../../cosmos/proto/gen/ibc/core/client/v1/client.ts";
import type { Any } from "../../../../../cosmos/proto/gen/google/protobuf/any.ts";
import * as wire from "../../../../../cosmos/proto/gen/ibc/core/client/v1/tx.ts";
import type { ClientState } from "../../../../../cosmos/proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import { goDurationText, NS_PER_SECOND } from "../../../../../platform/base/time.ts";
import { trimGoSpace } from "../../../../../platform/base/text.ts";
import type { Context, MessageHandler } from "../../../runtime/context.ts";
import * as errors from "../../../runtime/errors.ts";
import { messageHandlers } from "../../../runtime/handlers.ts";
import * as ibcErrors from "../host/errors.ts";
import {
  type IbcOptions,
  requireAuthority,
  requireSigner,
  type PackedPart,
  packedSigner,
  unsupported,
} from "../host/signed-handler.ts";
import { ZERO_HEIGHT } from "../host/height.ts";
import { LOCALHOST, TENDERMINT_TYPE, validateClientId } from "../host/identifiers.ts";
import { clientParams } from "../host/params.ts";
import {
  type ClientMessage,
  unpackClientMessage,
  validateMisbehaviour,
  validateUpdateHeader,
  type VerifyingBlock,
} from "./client-message.ts";
import {
  type ConsensusState,
  durationNs,
  latestHeightOf,
  unpackClientState,
  unpackConsensusState,
} from "./client-store.ts";
import { createClient, recoverClient, updateClient, verifyingBlock } from "./keeper.ts";

/**
 * Message handlers for `ibc.core.client.v1`, with their stateless checks (`ValidateBasic`) in ibc-go's order. Chain upgrade messages
 * always fail.
 */
export function clientHandlers({ bech32Prefix, authority }: IbcOptions): readonly MessageHandler[] {
  const update = (message: PackedUpdate, block?: VerifyingBlock): void => {
    requireSigner(bech32Prefix, message);
    validateClientMessage(unpackClientMessage(message.packed), block);
    validateClientId(message.clientId);
  };
  const run = (context: Context, message: PackedUpdate): void => {
    update(message, verifyingBlock(context));
    updateClient(context, message.clientId, message.packed);
  };
  return messageHandlers(wire.Msg, {
    CreateClient: {
      signers: packedSigner(clientStates),
      validate: (message) => {
        requireSigner(bech32Prefix, message);
        validateStates(message);
      },
      handle: (context, message) => {
        // ibc-go 8's response is empty; relayers read the new client's id from the event.
        createClient(context, message.clientState, message.consensusState);
        return { clientId: "" };
      },
    },
    UpdateClient: {
      signers: packedSigner(({ clientMessage }) => [["ClientMessage", clientMessage]]),
      validate: (message) => update({ ...message, packed: message.clientMessage }),
      handle: (context, message) => run(context, { ...message, packed: message.clientMessage }),
    },
    SubmitMisbehaviour: {
      signers: packedSigner(({ misbehaviour }) => [["ClientMessage", misbehaviour]]),
      validate: (message) => update({ ...message, packed: message.misbehaviour }),
      handle: (context, message) => run(context, { ...message, packed: message.misbehaviour }),
    },
    RecoverClient: {
      validate: (message) => {
        requireSigner(bech32Prefix, message);
        validateClientId(message.subjectClientId);
        validateClientId(message.substituteClientId);
        if (message.subjectClientId === message.substituteClientId)
          throw ibcErrors.ErrInvalidSubstitute("subject and substitute clients must be different");
      },
      handle: (context, message) => {
        requireAuthority(authority, message);
        recoverClient(context, message.subjectClientId, message.substituteClientId);
      },
    },
    UpdateClientParams: {
      validate: (message) => {
        requireSigner(bech32Prefix, message);
        clientParams.validate(paramsIn(message));
      },
      handle: (context, message) => {
        requireAuthority(authority, message);
        clientParams.set(context, paramsIn(message));
      },
    },
    UpgradeClient: {
      signers: packedSigner(clientStates),
      // As in ibc-go, the signer is checked late.
      validate: (message) => {
        validateUpgrade(message);
        requireSigner(bech32Prefix, message);
        validateClientId(message.clientId);
      },
      handle: unsupported("/ibc.core.client.v1.MsgUpgradeClient"),
    },
    IBCSoftwareUpgrade: {
      signers: packedSigner(({ upgradedClientState }) => [["ClientState", upgradedClientState]]),
      handle: unsupported("/ibc.core.client.v1.MsgIBCSoftwareUpgrade"),
    },
  });
}

/**
 * MsgUpdateClient or MsgSubmitMisbehaviour. As in ibc-go, the client id is checked last. Without a block, signatures in misbehaviour
 * are not checked, because the sender must pay before they are verified.
 */
interface PackedUpdate extends Pick<wire.MsgUpdateClient, "clientId" | "signer"> {
  readonly packed: Any | undefined;
}

/** The packed states in a message. */
type ClientStates = Pick<wire.MsgCreateClient, "clientState" | "consensusState" | "signer">;

function clientStates({ clientState, consensusState }: ClientStates): readonly PackedPart[] {
  return [
    ["ClientState", clientState],
    ["ConsensusState", consensusState],
  ];
}

function validateStates(message: ClientStates): void {
  const client = unpackClientState(message.clientState);
  if (client.type === LOCALHOST) {
    if (latestHeightOf(client).revisionHeight === 0n)
      throw ibcErrors.ErrIbcInvalidHeight("local revision height cannot be zero");
  } else validateClientState(client.state);
  const consensusState = unpackConsensusState(message.consensusState);
  if (client.type !== TENDERMINT_TYPE)
    throw ibcErrors.ErrInvalidClientType("client type for client state and consensus state do not match");
  validateConsensusState(consensusState);
}

function validateUpgrade(message: wire.MsgUpgradeClient): void {
  const { type } = unpackClientState(message.clientState);
  unpackConsensusState(message.consensusState);
  if (type !== TENDERMINT_TYPE)
    throw ibcErrors.ErrInvalidUpgradeClient(
      `consensus state's client-type does not match client. expected: ${type}, got: ${TENDERMINT_TYPE}`,
    );
  if (message.proofUpgradeClient.length === 0)
    throw ibcErrors.ErrInvalidUpgradeClient("proof of upgrade client cannot be empty");
  if (message.proofUpgradeConsensusState.length === 0)
    throw ibcErrors.ErrInvalidUpgradeClient("proof of upgrade consensus state cannot be empty");
}

/** Returns a message's params. As in Go, absent params are empty. */
function paramsIn({ params }: wire.MsgUpdateParams): Params {
  return params ?? { allowedClients: [] };
}

function validateClientMessage(message: ClientMessage, block: VerifyingBlock | undefined): void {
  if (message.kind === "header") validateUpdateHeader(message.header);
  else if (block !== undefined) validateMisbehaviour(message.misbehaviour, block);
}

/** Go's longest duration (int64 nanoseconds), about 292 years. */
const MAX_DURATION_NS = 2n ** 63n - 1n;

/**
 * Stateless checks of a client state (07-tendermint `ClientState.Validate`), in ibc-go's order. Throws `ModuleError`.
 */
function validateClientState(client: ClientState): void {
  validateChainId(client.chainId);
  const level = client.trustLevel ?? { numerator: 0n, denominator: 0n };
  if (!isTrustLevel(level)) {
    throw ibcErrors.ErrInvalidTrustLevel(
      `trustLevel must be within [1/3, 1], given ${level.numerator}/${level.denominator}`,
    );
  }
  validatePeriods(client);
  validateLatestHeight(client);
  const trusting = durationNs(client.trustingPeriod);
  const unbonding = durationNs(client.unbondingPeriod);
  if (trusting >= unbonding) {
    throw ibcErrors.ErrInvalidTrustingPeriod(
      `trusting period (${goDurationText(trusting)}) should be < unbonding period (${goDurationText(unbonding)})`,
    );
  }
  if (client.proofSpecs.length === 0)
    throw ibcErrors.ErrInvalidProofSpecs("proof specs cannot be nil for tm client");
  for (const [index, key] of client.upgradePath.entries()) {
    if (trimGoSpace(key) === "")
      throw ibcErrors.ErrInvalidClient(`key in upgrade path at index ${index} cannot be empty`);
  }
}

/** Stateless checks of a consensus state (07-tendermint `ConsensusState.ValidateBasic`). Throws `ModuleError`. */
function validateConsensusState(state: ConsensusState): void {
  if (state.root.length === 0) throw ibcErrors.ErrInvalidConsensus("root cannot be empty");
  try {
    validateHash(state.nextValidatorsHash);
  } catch (error) {
    if (error instanceof CometError)
      throw errors.unregisteredError(error.message).wrap("next validators hash is invalid");
    throw error;
  }
  // Go checks the time's seconds (`Unix() <= 0`), so a time within the first second is invalid.
  if (state.timeNs < NS_PER_SECOND)
    throw ibcErrors.ErrInvalidConsensus("timestamp must be a positive Unix time");
}

function validateChainId(chainId: string): void {
  if (trimGoSpace(chainId) === "") throw ibcErrors.ErrInvalidChainID("chain id cannot be empty string");
  const { length } = Buffer.from(chainId);
  if (length <= MAX_CHAIN_ID_LENGTH) return;
  throw ibcErrors.ErrInvalidChainID(`chainID is too long; got: ${length}, max: ${MAX_CHAIN_ID_LENGTH}`);
}

function validatePeriods(client: ClientState): void {
  // Go has 64-bit durations and rejects longer ones as early as when decoding the message.
  for (const period of [client.trustingPeriod, client.unbondingPeriod, client.maxClockDrift]) {
    if (durationNs(period) > MAX_DURATION_NS) throw errors.unregisteredError("proto: duration out of range");
  }
  if (durationNs(client.trustingPeriod) <= 0n)
    throw ibcErrors.ErrInvalidTrustingPeriod("trusting period must be greater than zero");
  if (durationNs(client.unbondingPeriod) <= 0n)
    throw ibcErrors.ErrInvalidUnbondingPeriod("unbonding period must be greater than zero");
  if (durationNs(client.maxClockDrift) <= 0n)
    throw ibcErrors.ErrInvalidMaxClockDrift("max clock drift must be greater than zero");
}

function validateLatestHeight(client: ClientState): void {
  const height = client.latestHeight ?? ZERO_HEIGHT;
  const revision = revisionOfChainId(client.chainId);
  if (height.revisionNumber !== revision) {
    throw ibcErrors.ErrInvalidHeaderHeight(
      `latest height revision number must match chain id revision number (${height.revisionNumber} != ${revision})`,
    );
  }
  if (height.revisionHeight === 0n) {
    throw ibcErrors.ErrInvalidHeaderHeight(
      "tendermint client's latest height revision height cannot be zero",
    );
  }
}

import { CometError } from "../../../../../cosmos/comet/comet-error.ts";
import { revisionOfChainId } from "../../../../../cosmos/comet/ibc-height.ts";
import { isTrustLevel } from "../../../../../cosmos/comet/light-client.ts";
import { MAX_CHAIN_ID_LENGTH, validateHash } from "../../../../../cosmos/comet/validate.ts";
import type { Params } from "../../../../../cosmos/proto/gen/ibc/core/client/v1/client.ts";
import { Any } from "../../../../../cosmos/proto/gen/google/protobuf/any.ts";
import * as wire from "../../../../../cosmos/proto/gen/ibc/core/client/v1/tx.ts";
import type { ClientState } from "../../../../../cosmos/proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import { goDurationText, NS_PER_SECOND } from "../../../../../platform/base/time.ts";
import { trimGoSpace } from "../../../../../platform/base/text.ts";
import type { Context, MessageHandler, QueryHandler } from "../../../runtime/context.ts";
import { isOutOfGas, ModuleError, QueryError, GrpcCode, unregisteredError } from "../../../runtime/errors.ts";
import { messageHandlers, queryHandlers } from "../../../runtime/handlers.ts";
import * as ibcErrors from "../host/errors.ts";
import * as signed from "../host/signed-handler.ts";
import { ZERO_HEIGHT, formatHeight, isZeroHeight, parseHeight } from "../host/height.ts";
import { LOCALHOST, TENDERMINT_TYPE, validateClientId } from "../host/identifiers.ts";
import { clientParams } from "../host/params.ts";
import * as messages from "./client-message.ts";
import * as clientStore from "./client-store.ts";
import { createClient, recoverClient, updateClient, verifyingBlock } from "./keeper.ts";
import * as queryWire from "../../../../../cosmos/proto/gen/ibc/core/client/v1/query.ts";
import { latin1, utf8 } from "../../../../../platform/base/bytes.ts";
import { CLIENTS_PREFIX, consensusStatesPrefix } from "../host/keys.ts";
import { verifyStored } from "./verify-proof.ts";

/**
 * Message handlers for `ibc.core.client.v1`, with their stateless checks (`ValidateBasic`) in ibc-go's order. The messages for
 * chain upgrades always fail.
 */
export function clientHandlers({ bech32Prefix, authority }: signed.IbcOptions): readonly MessageHandler[] {
  const update = (message: PackedUpdate, block?: messages.VerifyingBlock): void => {
    signed.requireSigner(bech32Prefix, message);
    validateClientMessage(messages.unpackClientMessage(message.packed), block);
    validateClientId(message.clientId);
  };
  const run = (context: Context, message: PackedUpdate): void => {
    update(message, verifyingBlock(context));
    updateClient(context, message.clientId, message.packed);
  };
  return messageHandlers(wire.Msg, {
    CreateClient: {
      signers: signed.packedSigner(packedStates),
      validate: (message) => {
        signed.requireSigner(bech32Prefix, message);
        validateStates(message);
      },
      handle: (context, message) => {
        // ibc-go 8's response is empty, so relayers read the new client's id from the event.
        createClient(context, message.clientState, message.consensusState);
        return { clientId: "" };
      },
    },
    UpdateClient: {
      signers: signed.packedSigner(({ clientMessage }) => [["ClientMessage", clientMessage]]),
      validate: (message) => update({ ...message, packed: message.clientMessage }),
      handle: (context, message) => run(context, { ...message, packed: message.clientMessage }),
    },
    SubmitMisbehaviour: {
      signers: signed.packedSigner(({ misbehaviour }) => [["ClientMessage", misbehaviour]]),
      validate: (message) => update({ ...message, packed: message.misbehaviour }),
      handle: (context, message) => run(context, { ...message, packed: message.misbehaviour }),
    },
    RecoverClient: {
      validate: (message) => {
        signed.requireSigner(bech32Prefix, message);
        validateClientId(message.subjectClientId);
        validateClientId(message.substituteClientId);
        if (message.subjectClientId === message.substituteClientId)
          throw ibcErrors.ErrInvalidSubstitute("subject and substitute clients must be different");
      },
      handle: (context, message) => {
        signed.requireAuthority(authority, message);
        recoverClient(context, message.subjectClientId, message.substituteClientId);
      },
    },
    UpdateClientParams: {
      validate: (message) => {
        signed.requireSigner(bech32Prefix, message);
        clientParams.validate(paramsIn(message));
      },
      handle: (context, message) => {
        signed.requireAuthority(authority, message);
        clientParams.set(context, paramsIn(message));
      },
    },
    UpgradeClient: {
      signers: signed.packedSigner(packedStates),
      // As in ibc-go, check the signer after the client and consensus states.
      validate: (message) => {
        validateUpgrade(message);
        signed.requireSigner(bech32Prefix, message);
        validateClientId(message.clientId);
      },
      handle: signed.unsupported("/ibc.core.client.v1.MsgUpgradeClient"),
    },
    IBCSoftwareUpgrade: {
      signers: signed.packedSigner(({ upgradedClientState }) => [["ClientState", upgradedClientState]]),
      handle: signed.unsupported("/ibc.core.client.v1.MsgIBCSoftwareUpgrade"),
    },
  });
}

/**
 * MsgUpdateClient or MsgSubmitMisbehaviour. As in ibc-go, the client id is checked last. The stateless checks do not verify the
 * signatures in misbehaviour, because they run before the sender has paid any fee.
 */
interface PackedUpdate extends Pick<wire.MsgUpdateClient, "clientId" | "signer"> {
  readonly packed: Any | undefined;
}

type ClientStates = Pick<wire.MsgCreateClient, "clientState" | "consensusState" | "signer">;

function packedStates({ clientState, consensusState }: ClientStates): readonly signed.PackedPart[] {
  return [
    ["ClientState", clientState],
    ["ConsensusState", consensusState],
  ];
}

function validateStates(message: ClientStates): void {
  const client = clientStore.unpackClientState(message.clientState);
  if (client.type === LOCALHOST) {
    if (clientStore.latestHeightOf(client).revisionHeight === 0n)
      throw ibcErrors.ErrIbcInvalidHeight("local revision height cannot be zero");
  } else validateClientState(client.state);
  const consensusState = clientStore.unpackConsensusState(message.consensusState);
  if (client.type !== TENDERMINT_TYPE)
    throw ibcErrors.ErrInvalidClientType("client type for client state and consensus state do not match");
  validateConsensusState(consensusState);
}

function validateUpgrade(message: wire.MsgUpgradeClient): void {
  const { type } = clientStore.unpackClientState(message.clientState);
  clientStore.unpackConsensusState(message.consensusState);
  if (type !== TENDERMINT_TYPE)
    throw ibcErrors.ErrInvalidUpgradeClient(
      `consensus state's client-type does not match client. expected: ${type}, got: ${TENDERMINT_TYPE}`,
    );
  if (message.proofUpgradeClient.length === 0)
    throw ibcErrors.ErrInvalidUpgradeClient("proof of upgrade client cannot be empty");
  if (message.proofUpgradeConsensusState.length === 0)
    throw ibcErrors.ErrInvalidUpgradeClient("proof of upgrade consensus state cannot be empty");
}

/** Returns a message's parameters. As in Go, missing parameters are empty. */
function paramsIn({ params }: wire.MsgUpdateParams): Params {
  return params ?? { allowedClients: [] };
}

function validateClientMessage(
  message: messages.ClientMessage,
  block: messages.VerifyingBlock | undefined,
): void {
  if (message.kind === "header") messages.validateUpdateHeader(message.header);
  else if (block !== undefined) messages.validateMisbehaviour(message.misbehaviour, block);
}

/** The longest duration in Go (an int64 number of nanoseconds), which is about 292 years. */
const MAX_DURATION_NS = 2n ** 63n - 1n;

/**
 * Checks a client state without the chain's state (07-tendermint `ClientState.Validate`), in ibc-go's order. Throws
 * `ModuleError`.
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
  const trusting = clientStore.durationNs(client.trustingPeriod);
  const unbonding = clientStore.durationNs(client.unbondingPeriod);
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
function validateConsensusState(state: clientStore.ConsensusState): void {
  if (state.root.length === 0) throw ibcErrors.ErrInvalidConsensus("root cannot be empty");
  try {
    validateHash(state.nextValidatorsHash);
  } catch (error) {
    if (error instanceof CometError)
      throw unregisteredError(error.message).wrap("next validators hash is invalid");
    throw error;
  }
  // A time in the first second after the Unix epoch is invalid, because Go only compares whole seconds (`Unix() <= 0`).
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
  // Go's durations have 64 bits, so Go rejects longer durations while decoding the message.
  for (const period of [client.trustingPeriod, client.unbondingPeriod, client.maxClockDrift]) {
    if (clientStore.durationNs(period) > MAX_DURATION_NS)
      throw unregisteredError("proto: duration out of range");
  }
  if (clientStore.durationNs(client.trustingPeriod) <= 0n)
    throw ibcErrors.ErrInvalidTrustingPeriod("trusting period must be greater than zero");
  if (clientStore.durationNs(client.unbondingPeriod) <= 0n)
    throw ibcErrors.ErrInvalidUnbondingPeriod("unbonding period must be greater than zero");
  if (clientStore.durationNs(client.maxClockDrift) <= 0n)
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

/** Handlers for all queries of `ibc.core.client.v1.Query`. */
export const clientQueries: readonly QueryHandler[] = queryHandlers(queryWire.Query, {
  ClientState: (context, { clientId }) => {
    const { client } = clientOf(context, clientId);
    return { clientState: clientStore.packClientState(client), ...signed.emptyProof(context) };
  },
  ClientStates: (context, { pagination }) => {
    const page = signed.readMatches(context, CLIENTS_PREFIX, pagination, (key, value) => {
      // Decode the key as Latin-1, because it preserves the bytes of binary keys.
      const clientId = /^\/([^/]+)\/clientState$/.exec(latin1(key))?.[1];
      return clientId === undefined ? undefined : { clientId, clientState: Any.decode(value) };
    });
    const clientStates = page.items.toSorted((a, b) => (a.clientId < b.clientId ? -1 : 1));
    return { clientStates, pagination: page.pagination };
  },
  ConsensusState: (context, { clientId, latestHeight, ...requested }) => {
    signed.checkArgument(() => validateClientId(clientId));
    if (!latestHeight && requested.revisionHeight === 0n)
      throw new QueryError(GrpcCode.InvalidArgument, "consensus state height cannot be 0");
    const store = clientStore.openClientStore(context, clientId);
    const client = latestHeight ? store.clientState() : undefined;
    const height = latestHeight ? client && clientStore.latestHeightOf(client) : requested;
    const state = signed.requireFound(height && store.consensusState(height), () =>
      ibcErrors.ErrConsensusStateNotFound(`client-id: ${clientId}, height: ${formatHeight(requested)}`),
    );
    return { consensusState: clientStore.packConsensusState(state), ...signed.emptyProof(context) };
  },
  ConsensusStates: (context, request) => {
    const { items, pagination } = pageStates(context, request);
    const consensusStates = items.map(({ height, value }) => ({ height, consensusState: Any.decode(value) }));
    return { consensusStates, pagination };
  },
  ConsensusStateHeights: (context, request) => {
    const { items, pagination } = pageStates(context, request);
    return { consensusStateHeights: items.map(({ height }) => height), pagination };
  },
  ClientStatus: (context, { clientId }) => {
    const { client, store } = clientOf(context, clientId);
    return { status: clientStore.statusOf(context, client, store) };
  },
  ClientParams: clientParams.query,
  // An upgraded state is never found, because this chain never plans an upgrade.
  UpgradedClientState: () => notFound("upgrade plan not found"),
  UpgradedConsensusState: ({ height }) => notFound(`upgraded consensus state not found, height ${height}`),
  VerifyMembership: verifyMembership,
});

function notFound(text: string): never {
  throw new QueryError(GrpcCode.NotFound, text);
}

function clientOf(
  context: Context,
  clientId: string,
): { readonly client: clientStore.StoredClient; readonly store: clientStore.ClientStore } {
  signed.checkArgument(() => validateClientId(clientId));
  const store = clientStore.openClientStore(context, clientId);
  return {
    client: signed.requireFound(store.clientState(), () => ibcErrors.ErrClientNotFound(clientId)),
    store,
  };
}

/** Reads a page of a client's consensus states in key order. Keys sort as text, so the height 2-1000 precedes 2-33. */
function pageStates(context: Context, { clientId, pagination }: queryWire.QueryConsensusStatesRequest) {
  signed.checkArgument(() => validateClientId(clientId));
  return signed.readMatches(context, consensusStatesPrefix(clientId), pagination, (key, value) => {
    // Skip keys that are not heights, such as "2-33/processedTime", because they store metadata.
    const height = parseHeight(latin1(key));
    return height === undefined ? undefined : { height, value };
  });
}

const SOLO_MACHINE = "06-solomachine";
/** Gas per byte of a proof that a query verifies: three times the store's read cost of 3 gas per byte. */
const GAS_PER_PROOF_BYTE = 9n;

/**
 * Returns whether a proof shows that a client's counterparty stores a value. An invalid proof yields false, not an error. Throws
 * `QueryError` for an invalid client and for a missing field, in the same order and with the same messages as ibc-go.
 */
export function verifyMembership(
  context: Context,
  request: queryWire.QueryVerifyMembershipRequest,
): queryWire.QueryVerifyMembershipResponse {
  const { clientId, proof, value } = request;
  signed.checkArgument(() => validateClientId(clientId));
  signed.checkArgument(() => requireProvingClient(clientId));
  const proofHeight = request.proofHeight ?? ZERO_HEIGHT;
  const keyPath = request.merklePath?.keyPath ?? [];
  requirePart(proof.length > 0, "empty proof");
  requirePart(!isZeroHeight(proofHeight), "proof height must be non-zero");
  requirePart(keyPath.length > 0, "empty merkle path");
  requirePart(value.length > 0, "empty value");
  requireActive(context, clientId);
  context.gas.consume(GAS_PER_PROOF_BYTE * BigInt(proof.length), "verify membership query");
  const [prefix = "", path, ...more] = keyPath;
  // A path has two parts, because a proof covers the store's tree and the multistore's tree.
  if (path === undefined || more.length > 0) return { success: false };
  const delay = { timeNs: request.timeDelay, blocks: request.blockDelay };
  const claim = { clientId, proofHeight, proof, prefix: utf8(prefix), path, delay };
  return { success: isVerified(() => verifyStored(context, claim, value)) };
}

/** Throws for an id that ibc-go would not assign and for client types that cannot prove anything about another chain. */
function requireProvingClient(clientId: string): void {
  const type = clientId === LOCALHOST ? clientId : /^(\w+(?:[\w-]*\w)?)-[0-9]{1,20}$/.exec(clientId)?.[1];
  if (type === undefined)
    throw ibcErrors.ErrInvalidID(
      `invalid client identifier ${clientId} is not in format: \`{client-type}-{N}\``,
    );
  if (type === LOCALHOST || type === SOLO_MACHINE)
    throw ibcErrors.ErrInvalidClientType(
      `verify membership is disabled for client types [${LOCALHOST} ${SOLO_MACHINE}]`,
    );
}

function requirePart(isPresent: boolean, text: string): void {
  if (!isPresent) throw new QueryError(GrpcCode.InvalidArgument, text);
}

function requireActive(context: Context, clientId: string): void {
  const store = clientStore.openClientStore(context, clientId);
  const client = signed.requireFound(store.clientState(), () => ibcErrors.ErrClientNotFound(clientId));
  const status = clientStore.statusOf(context, client, store);
  if (status === "Active") return;
  const text = `cannot verify membership using client (${clientId}) with status ${status}`;
  throw new QueryError(GrpcCode.FailedPrecondition, ibcErrors.ErrClientNotActive(text).message);
}

function isVerified(verify: () => void): boolean {
  try {
    verify();
    return true;
  } catch (error) {
    if (!(error instanceof ModuleError) || isOutOfGas(error)) throw error;
    return false;
  }
}

import { nsToTimestamp } from "../../../cosmos/comet/timestamp.ts";
import * as node from "../../../cosmos/proto/gen/cosmos/base/node/v1beta1/query.ts";
import * as reflection from "../../../cosmos/proto/gen/cosmos/base/reflection/v1beta1/reflection.ts";
import { ParamsResponse } from "../../../cosmos/proto/gen/feemarket/feemarket/v1/query.ts";
import { TYPE_URL } from "../../../cosmos/proto/registry.ts";
import { formatDec18 } from "../../../platform/base/decimal.ts";
import { GrpcCode, QueryError } from "../../chain/runtime/errors.ts";
import * as nodeView from "../base/node-view.ts";
import { nodeMethods, type ServiceContext } from "./node-method.ts";
import type { BlockId, Validator } from "../../../cosmos/comet/block-types.ts";
import { commitToProto, headerToProto } from "../../../cosmos/comet/proto-blocks.ts";
import type { PageRequest } from "../../../cosmos/proto/gen/cosmos/base/query/v1beta1/pagination.ts";
import * as wire from "../../../cosmos/proto/gen/cosmos/base/tendermint/v1beta1/query.ts";
import type { Block as SdkBlock } from "../../../cosmos/proto/gen/cosmos/base/tendermint/v1beta1/types.ts";
import { PubKey } from "../../../cosmos/proto/gen/cosmos/crypto/ed25519/keys.ts";
import type { Block } from "../../../cosmos/proto/gen/tendermint/types/block.ts";
import type { BlockID } from "../../../cosmos/proto/gen/tendermint/types/types.ts";
import { encodeBech32, fromHex } from "../../../platform/base/bytes.ts";
import { minInt } from "../../../platform/base/integers.ts";

/** Methods of `cosmos.base.node.v1beta1.Service`, which return the node's settings and status. */
export const NODE_METHODS = nodeMethods<typeof node>("cosmos.base.node.v1beta1.Service", node, {
  Config: (_request, { view }) => ({
    minimumGasPrice: minimumGasPrice(view),
    // Report the SDK's defaults from app.toml, because the node has no such settings.
    pruningKeepRecent: "0",
    pruningInterval: "0",
    haltHeight: 0n,
  }),
  Status: (_request, { view }, height) => {
    const block = view.block(height);
    if (block === undefined) throw new QueryError(GrpcCode.Unknown, `height ${height} is not available`);
    const { timeNs, appHash, nextValidatorsHash } = block.header;
    return {
      // Always 0, because SDK 0.50 never sets it.
      earliestStoreHeight: 0n,
      height,
      timestamp: nsToTimestamp(timeNs),
      // As in the SDK, the hashes are from the block's header: the app hash before the block, and the hash of the next validators.
      appHash,
      validatorHash: nextValidatorsHash,
    };
  },
});

const FEE_MARKET_PARAMS = {
  path: "/feemarket.feemarket.v1.Query/Params",
  data: new Uint8Array(0),
  height: 0n,
  prove: false,
};

/**
 * Returns the lowest price that the fee market ever accepts, or an empty string if the chain has no fee market. On a real node, the
 * operator sets a minimum price in app.toml, and relayers warn if a chain has none.
 */
function minimumGasPrice(view: nodeView.NodeView): string {
  const { code, value } = view.query(FEE_MARKET_PARAMS);
  const params = code === 0 ? ParamsResponse.decode(value).params : undefined;
  return params === undefined ? "" : `${formatDec18(BigInt(params.minBaseGasPrice))}${params.feeDenom}`;
}

/** Methods of `cosmos.base.reflection.v1beta1.ReflectionService`, which list the types that a `google.protobuf.Any` can contain. */
export const INTERFACE_METHODS = nodeMethods<typeof reflection>(
  "cosmos.base.reflection.v1beta1.ReflectionService",
  reflection,
  {
    ListAllInterfaces: (_request, { view }) => ({ interfaceNames: [...interfacesOf(view).keys()] }),
    ListImplementations: ({ interfaceName }, { view }) => {
      if (interfaceName === "") throw new QueryError(GrpcCode.InvalidArgument, "invalid interface name");
      return { implementationMessageNames: [...(interfacesOf(view).get(interfaceName) ?? [])] };
    },
  },
);

const SDK_INTERFACES: Readonly<Record<string, readonly string[]>> = {
  "cosmos.auth.v1beta1.AccountI": [TYPE_URL.baseAccount, TYPE_URL.moduleAccount],
  "cosmos.crypto.PubKey": [TYPE_URL.ed25519PubKey, TYPE_URL.secp256k1PubKey],
  "cosmos.tx.v1beta1.Tx": [TYPE_URL.tx],
};

const IBC_INTERFACES: Readonly<Record<string, readonly string[]>> = {
  "ibc.core.client.v1.ClientMessage": [TYPE_URL.tendermintHeader, TYPE_URL.tendermintMisbehaviour],
  "ibc.core.client.v1.ClientState": [TYPE_URL.tendermintClientState],
  "ibc.core.client.v1.ConsensusState": [TYPE_URL.tendermintConsensusState],
};

/** Returns type URLs, keyed by the interface name with which the Go modules register the types. */
function interfacesOf(view: nodeView.NodeView): ReadonlyMap<string, readonly string[]> {
  const messages = view.messageTypes();
  return new Map([
    ...Object.entries(SDK_INTERFACES),
    ["cosmos.base.v1beta1.Msg", messages],
    ...(messages.includes(TYPE_URL.createClient) ? Object.entries(IBC_INTERFACES) : []),
  ]);
}

/** Methods of `cosmos.base.tendermint.v1beta1.Service`, which return CometBFT's blocks and validators in the SDK's format. */
export const TENDERMINT_METHODS = nodeMethods<typeof wire>("cosmos.base.tendermint.v1beta1.Service", wire, {
  GetNodeInfo: (_request, context) => nodeInfo(context),
  GetSyncing: () => ({ syncing: false }),
  GetLatestBlock: (_request, context) => getBlock(context.view.status().latestHeight, context),
  GetBlockByHeight: ({ height }, context) => getBlock(height, context),
  GetLatestValidatorSet: ({ pagination }, context) =>
    getValidators(context.view.status().latestHeight + 1n, pagination, context),
  GetValidatorSetByHeight: ({ height, pagination }, context) => {
    requireHeight(height, context);
    return getValidators(height, pagination, context);
  },
  ABCIQuery: abciQuery,
});

function requireHeight(height: bigint, { view }: ServiceContext): void {
  const { latestHeight, earliestHeight } = view.status();
  if (height > latestHeight) {
    throw new QueryError(GrpcCode.InvalidArgument, "requested block height is bigger then the chain length");
  }
  if (height <= 0n) {
    throw new QueryError(GrpcCode.Unknown, `height must be greater than 0, but got ${height}`);
  }
  if (height < earliestHeight) {
    const text = `height ${height} is not available, lowest height is ${earliestHeight}`;
    throw new QueryError(GrpcCode.Unknown, text);
  }
}

function getBlock(height: bigint, context: ServiceContext): wire.GetBlockByHeightResponse {
  requireHeight(height, context);
  const stored = context.view.block(height);
  if (stored === undefined) throw new QueryError(GrpcCode.Unknown, `height ${height} is not available`);
  return {
    blockId: protoBlockId(stored.blockId),
    block: protoBlock(stored),
    sdkBlock: sdkBlock(stored, context.consensusPrefix),
  };
}

const DEFAULT_LIMIT = 100n;
const MAX_PER_PAGE = 100n;

/**
 * Returns a page of the validators that sign a height. Like the SDK's `ParsePagination`, converts the offset to CometBFT's page
 * number, so an offset within a page returns that page from its start.
 */
function getValidators(
  height: bigint,
  pagination: PageRequest | undefined,
  { view, consensusPrefix }: ServiceContext,
): wire.GetValidatorSetByHeightResponse {
  const set = view.validators(height)?.validators;
  if (set === undefined) throw new QueryError(GrpcCode.Unknown, `height ${height} is not available`);
  const limit = pagination === undefined || pagination.limit === 0n ? DEFAULT_LIMIT : pagination.limit;
  const page = (pagination?.offset ?? 0n) / limit + 1n;
  const perPage = minInt(limit, MAX_PER_PAGE);
  const count = BigInt(set.length);
  // Round up the number of pages. Even an empty validator set has one page.
  const pages = count === 0n ? 1n : (count + perPage - 1n) / perPage;
  if (page > pages) {
    throw new QueryError(GrpcCode.Unknown, `page should be within [1, ${pages}] range, given ${page}`);
  }
  const start = Number((page - 1n) * perPage);
  return {
    blockHeight: height,
    validators: set
      .slice(start, start + Number(perPage))
      .map((validator) => toProtoValidator(validator, consensusPrefix)),
    pagination: { nextKey: new Uint8Array(), total: count },
  };
}

function toProtoValidator(validator: Validator, consensusPrefix: string): wire.Validator {
  const value = PubKey.encode({ key: validator.publicKey }).finish();
  return {
    address: encodeBech32(consensusPrefix, validator.address),
    pubKey: { typeUrl: TYPE_URL.ed25519PubKey, value },
    votingPower: validator.power,
    proposerPriority: validator.priority,
  };
}

/** First path segments that `ABCIQuery` accepts. */
const ABCI_PATHS: ReadonlySet<string> = new Set(["app", "store", "p2p", "custom"]);

/** Runs an `abci_query` over gRPC. The method can read stores and the application, but does not accept gRPC paths. */
function abciQuery(request: wire.ABCIQueryRequest, { view }: ServiceContext): wire.ABCIQueryResponse {
  const { path, data, height, prove } = request;
  if (path === "") throw new QueryError(GrpcCode.InvalidArgument, "empty query path");
  if (!ABCI_PATHS.has(path.replace(/^\//, "").split("/")[0] ?? "")) {
    throw new QueryError(GrpcCode.InvalidArgument, `unsupported ABCI query path: ${path}`);
  }
  const response = view.query({ path, data, height, prove });
  return {
    code: response.code,
    log: response.log,
    info: "",
    index: 0n,
    key: response.key,
    value: response.value,
    proofOps: response.proof === undefined ? undefined : { ops: response.proof.map((op) => ({ ...op })) },
    height: response.height,
    codespace: response.codespace,
  };
}

/** The Cosmos SDK release that the node reports. Clients adapt their behavior to the reported release. */
const SDK_VERSION = "v0.50.11";

/**
 * Go modules whose behavior the chain follows, with the deployed chain's releases. Hermes rejects a chain that does not report the Cosmos
 * SDK and ibc-go, and chooses its block encoding by the CometBFT version.
 */
const BUILD_DEPS = [
  { path: "github.com/cosmos/cosmos-sdk", version: SDK_VERSION, sum: "" },
  {
    path: "github.com/cosmos/ibc-go/v8",
    version: "v8.7.0",
    sum: "h1:HqhVOkO8bDpClXE81DFQgFjroQcTvtpm0tCS7SQVKVY=",
  },
  {
    path: "github.com/cometbft/cometbft",
    version: `v${nodeView.COMET_VERSION}`,
    sum: "h1:FkrQNbAjiFqXydeAO81FUzriL4Bz0abYxN/eOHrQGOk=",
  },
];

/** Returns the node's and the application's version info. Omits the Go version and all build dependencies that no client uses. */
function nodeInfo({ view, chainName, rpcAddress }: ServiceContext): wire.GetNodeInfoResponse {
  const { chainId, moniker, appVersion, latestHeight } = view.status();
  const version = view.block(latestHeight)?.header.version ?? { block: 11n, app: 0n };
  return {
    defaultNodeInfo: {
      protocolVersion: { p2p: nodeView.P2P_VERSION, block: version.block, app: version.app },
      defaultNodeId: nodeView.nodeId(chainId, moniker),
      listenAddr: "tcp://127.0.0.1:0",
      network: chainId,
      version: nodeView.COMET_VERSION,
      channels: fromHex(nodeView.P2P_CHANNELS),
      moniker,
      other: { txIndex: "on", rpcAddress: rpcAddress() },
    },
    applicationVersion: {
      name: chainName,
      appName: `${chainName}d`,
      version: appVersion,
      gitCommit: "",
      buildTags: "",
      goVersion: "",
      buildDeps: BUILD_DEPS,
      cosmosSdkVersion: SDK_VERSION,
    },
  };
}

export function protoBlockId({ hash, parts }: BlockId): BlockID {
  return { hash, partSetHeader: { ...parts } };
}

/** Converts a stored block to `tendermint.types.Block`, with an empty evidence list, because nodes do not store evidence. */
export function protoBlock({ header, txs, lastCommit }: nodeView.StoredBlock): Block {
  return {
    header: headerToProto(header),
    data: { txs: [...txs] },
    evidence: { evidence: [] },
    lastCommit: commitToProto(lastCommit),
  };
}

/** Converts a stored block to the SDK's `Block`, which has the proposer's address in bech32. */
function sdkBlock(stored: nodeView.StoredBlock, consensusPrefix: string): SdkBlock {
  const { header, ...rest } = protoBlock(stored);
  const proposerAddress = encodeBech32(consensusPrefix, stored.header.proposerAddress);
  return { ...rest, header: header === undefined ? undefined : { ...header, proposerAddress } };
}

import type { Validator } from "../../../cosmos/comet/block-types.ts";
import type { PageRequest } from "../../../cosmos/proto/gen/cosmos/base/query/v1beta1/pagination.ts";
import {
  ABCIQueryRequest,
  ABCIQueryResponse,
  GetBlockByHeightRequest,
  GetBlockByHeightResponse,
  GetLatestBlockRequest,
  GetLatestBlockResponse,
  GetLatestValidatorSetRequest,
  GetLatestValidatorSetResponse,
  GetNodeInfoRequest,
  GetNodeInfoResponse,
  GetSyncingRequest,
  GetSyncingResponse,
  GetValidatorSetByHeightRequest,
  GetValidatorSetByHeightResponse,
  type Validator as ProtoValidator,
} from "../../../cosmos/proto/gen/cosmos/base/tendermint/v1beta1/query.ts";
import { PubKey } from "../../../cosmos/proto/gen/cosmos/crypto/ed25519/keys.ts";
import { TYPE_URL } from "../../../cosmos/proto/type-urls.ts";
import { encodeBech32 } from "../../../platform/base/bytes.ts";
import { QueryError } from "../../chain/runtime/errors.ts";
import { GRPC } from "./grpc-status.ts";
import { nodeInfo } from "./node-info.ts";
import { nodeMethod, type NodeMethod, type ServiceContext } from "./node-method.ts";
import { protoBlock, protoBlockId, sdkBlock } from "./proto-block.ts";

const SERVICE = "/cosmos.base.tendermint.v1beta1.Service";

/** `cosmos.base.tendermint.v1beta1.Service`: CometBFT's blocks and validators as the SDK serves them. */
export const TENDERMINT_METHODS: readonly NodeMethod[] = [
  nodeMethod(`${SERVICE}/GetNodeInfo`, GetNodeInfoRequest, GetNodeInfoResponse, (_request, context) =>
    nodeInfo(context),
  ),
  nodeMethod(`${SERVICE}/GetSyncing`, GetSyncingRequest, GetSyncingResponse, () => ({ syncing: false })),
  nodeMethod(
    `${SERVICE}/GetLatestBlock`,
    GetLatestBlockRequest,
    GetLatestBlockResponse,
    (_request, context) => getBlock(context.view.status().latestHeight, context),
  ),
  nodeMethod(
    `${SERVICE}/GetBlockByHeight`,
    GetBlockByHeightRequest,
    GetBlockByHeightResponse,
    ({ height }, context) => getBlock(height, context),
  ),
  nodeMethod(
    `${SERVICE}/GetLatestValidatorSet`,
    GetLatestValidatorSetRequest,
    GetLatestValidatorSetResponse,
    ({ pagination }, context) => getValidators(context.view.status().latestHeight + 1n, pagination, context),
  ),
  nodeMethod(
    `${SERVICE}/GetValidatorSetByHeight`,
    GetValidatorSetByHeightRequest,
    GetValidatorSetByHeightResponse,
    ({ height, pagination }, context) => {
      requireHeight(height, context);
      return getValidators(height, pagination, context);
    },
  ),
  nodeMethod(`${SERVICE}/ABCIQuery`, ABCIQueryRequest, ABCIQueryResponse, abciQuery),
];

function requireHeight(height: bigint, { view }: ServiceContext): void {
  const { latestHeight, earliestHeight } = view.status();
  if (height > latestHeight) {
    throw new QueryError(GRPC.invalidArgument, "requested block height is bigger then the chain length");
  }
  if (height <= 0n) {
    throw new QueryError(GRPC.unknown, `height must be greater than 0, but got ${height}`);
  }
  if (height < earliestHeight) {
    const text = `height ${height} is not available, lowest height is ${earliestHeight}`;
    throw new QueryError(GRPC.unknown, text);
  }
}

function getBlock(height: bigint, context: ServiceContext): GetBlockByHeightResponse {
  requireHeight(height, context);
  const stored = context.view.block(height);
  if (stored === undefined) throw new QueryError(GRPC.unknown, `height ${height} is not available`);
  return {
    blockId: protoBlockId(stored.blockId),
    block: protoBlock(stored),
    sdkBlock: sdkBlock(stored, context.consensusPrefix),
  };
}

const DEFAULT_LIMIT = 100n;
const MAX_PER_PAGE = 100n;

/**
 * Returns one page of the validators that sign a height. CometBFT counts pages, not entries, so the SDK converts the offset
 * to a page (`ParsePagination`): an offset inside a page returns that page from its start.
 */
function getValidators(
  height: bigint,
  pagination: PageRequest | undefined,
  { view, consensusPrefix }: ServiceContext,
): GetValidatorSetByHeightResponse {
  const set = view.validators(height)?.validators;
  if (set === undefined) throw new QueryError(GRPC.unknown, `height ${height} is not available`);
  const limit = pagination === undefined || pagination.limit === 0n ? DEFAULT_LIMIT : pagination.limit;
  const page = (pagination?.offset ?? 0n) / limit + 1n;
  const perPage = limit > MAX_PER_PAGE ? MAX_PER_PAGE : limit;
  const count = BigInt(set.length);
  const pages = count === 0n ? 1n : (count + perPage - 1n) / perPage;
  if (page > pages) {
    throw new QueryError(GRPC.unknown, `page should be within [1, ${pages}] range, given ${page}`);
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

function toProtoValidator(validator: Validator, consensusPrefix: string): ProtoValidator {
  const value = PubKey.encode({ key: validator.publicKey }).finish();
  return {
    address: encodeBech32(consensusPrefix, validator.address),
    pubKey: { typeUrl: TYPE_URL.ed25519PubKey, value },
    votingPower: validator.power,
    proposerPriority: validator.priority,
  };
}

/** The first segments of the paths that `ABCIQuery` accepts. */
const ABCI_PATHS: ReadonlySet<string> = new Set(["app", "store", "p2p", "custom"]);

/** An `abci_query` over gRPC. It reads stores and the application, and refuses gRPC paths. */
function abciQuery(request: ABCIQueryRequest, { view }: ServiceContext): ABCIQueryResponse {
  const { path, data, height, prove } = request;
  if (path === "") throw new QueryError(GRPC.invalidArgument, "empty query path");
  if (!ABCI_PATHS.has(path.replace(/^\//, "").split("/")[0] ?? "")) {
    throw new QueryError(GRPC.invalidArgument, `unsupported ABCI query path: ${path}`);
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

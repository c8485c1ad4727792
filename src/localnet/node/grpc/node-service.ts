import { formatDec18 } from "../../../platform/base/decimal.ts";
import { nsToTimestamp } from "../../../cosmos/comet/timestamp.ts";
import { QueryError } from "../../chain/runtime/errors.ts";
import {
  ConfigRequest,
  ConfigResponse,
  StatusRequest,
  StatusResponse,
} from "../../../cosmos/proto/gen/cosmos/base/node/v1beta1/query.ts";
import { ParamsResponse } from "../../../cosmos/proto/gen/feemarket/feemarket/v1/query.ts";
import type { NodeView } from "../node-view.ts";
import { GRPC } from "./grpc-status.ts";
import { type NodeMethod, nodeMethod } from "./node-method.ts";

const SERVICE = "/cosmos.base.node.v1beta1.Service";

/** `cosmos.base.node.v1beta1.Service`: settings and state of the node. */
export const NODE_METHODS: readonly NodeMethod[] = [
  nodeMethod(`${SERVICE}/Config`, ConfigRequest, ConfigResponse, (_request, { view }) => ({
    minimumGasPrice: minimumGasPrice(view),
    // The defaults of app.toml.
    pruningKeepRecent: "0",
    pruningInterval: "0",
    haltHeight: 0n,
  })),
  nodeMethod(`${SERVICE}/Status`, StatusRequest, StatusResponse, (_request, { view }, height) => {
    const block = view.block(height);
    if (block === undefined) throw new QueryError(GRPC.unknown, `height ${height} is not available`);
    const { timeNs, appHash, nextValidatorsHash } = block.header;
    return {
      // SDK 0.50 never sets it.
      earliestStoreHeight: 0n,
      height,
      timestamp: nsToTimestamp(timeNs),
      // Like the SDK, the two hashes in the header of the block: the state before it, the validators after it.
      appHash,
      validatorHash: nextValidatorsHash,
    };
  }),
];

const FEE_MARKET_PARAMS = {
  path: "/feemarket.feemarket.v1.Query/Params",
  data: new Uint8Array(0),
  height: 0n,
  prove: false,
};

/**
 * The lowest price that the fee market ever takes, which an operator writes into app.toml: relayers warn of a chain without
 * one. Empty for a chain without a fee market.
 */
function minimumGasPrice(view: NodeView): string {
  const { code, value } = view.query(FEE_MARKET_PARAMS);
  const params = code === 0 ? ParamsResponse.decode(value).params : undefined;
  return params === undefined ? "" : `${formatDec18(BigInt(params.minBaseGasPrice))}${params.feeDenom}`;
}

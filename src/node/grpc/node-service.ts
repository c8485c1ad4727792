import { nsToTimestamp } from "../../comet/proto-blocks.ts";
import { QueryError } from "../../chain/runtime/module.ts";
import {
  ConfigRequest,
  ConfigResponse,
  StatusRequest,
  StatusResponse,
} from "../../proto/gen/cosmos/base/node/v1beta1/query.ts";
import { GRPC } from "./grpc-status.ts";
import { type NodeMethod, nodeMethod } from "./node-method.ts";

const SERVICE = "/cosmos.base.node.v1beta1.Service";

/** `cosmos.base.node.v1beta1.Service`: settings and state of the node. */
export const NODE_METHODS: readonly NodeMethod[] = [
  nodeMethod(`${SERVICE}/Config`, ConfigRequest, ConfigResponse, () => ({
    // Empty as in a Go node whose app.toml has no minimum: the fee market sets the price.
    minimumGasPrice: "",
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

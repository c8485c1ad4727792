import { nsToTimestamp } from "../../../cosmos/comet/timestamp.ts";
import * as node from "../../../cosmos/proto/gen/cosmos/base/node/v1beta1/query.ts";
import * as reflection from "../../../cosmos/proto/gen/cosmos/base/reflection/v1beta1/reflection.ts";
import { ParamsResponse } from "../../../cosmos/proto/gen/feemarket/feemarket/v1/query.ts";
import { TYPE_URL } from "../../../cosmos/proto/registry.ts";
import { formatDec18 } from "../../../platform/base/decimal.ts";
import { GrpcCode, QueryError } from "../../chain/runtime/errors.ts";
import type { NodeView } from "../base/node-view.ts";
import { nodeMethods } from "./node-method.ts";

/** `cosmos.base.node.v1beta1.Service`: the node's settings and state. */
export const NODE_METHODS = nodeMethods<typeof node>("cosmos.base.node.v1beta1.Service", node, {
  Config: (_request, { view }) => ({
    minimumGasPrice: minimumGasPrice(view),
    // The defaults in app.toml.
    pruningKeepRecent: "0",
    pruningInterval: "0",
    haltHeight: 0n,
  }),
  Status: (_request, { view }, height) => {
    const block = view.block(height);
    if (block === undefined) throw new QueryError(GrpcCode.Unknown, `height ${height} is not available`);
    const { timeNs, appHash, nextValidatorsHash } = block.header;
    return {
      // SDK 0.50 never sets this field.
      earliestStoreHeight: 0n,
      height,
      timestamp: nsToTimestamp(timeNs),
      // As in the SDK, the two hashes in the block's header: the state before the block and the validators after it.
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
 * The lowest price that the fee market ever accepts. An operator would set it in app.toml, and relayers warn about a chain that
 * has none. Empty if the chain has no fee market.
 */
function minimumGasPrice(view: NodeView): string {
  const { code, value } = view.query(FEE_MARKET_PARAMS);
  const params = code === 0 ? ParamsResponse.decode(value).params : undefined;
  return params === undefined ? "" : `${formatDec18(BigInt(params.minBaseGasPrice))}${params.feeDenom}`;
}

/** `cosmos.base.reflection.v1beta1.ReflectionService`: the types that a `google.protobuf.Any` may contain. */
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

/** Type URLs by interface name, as registered by the Go modules. */
function interfacesOf(view: NodeView): ReadonlyMap<string, readonly string[]> {
  const messages = view.messageTypes();
  return new Map([
    ...Object.entries(SDK_INTERFACES),
    ["cosmos.base.v1beta1.Msg", messages],
    ...(messages.includes(TYPE_URL.createClient) ? Object.entries(IBC_INTERFACES) : []),
  ]);
}

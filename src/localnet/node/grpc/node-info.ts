import { fromHex } from "../../../platform/base/bytes.ts";
import type { GetNodeInfoResponse } from "../../../cosmos/proto/gen/cosmos/base/tendermint/v1beta1/query.ts";
import { COMET_VERSION, nodeId, P2P_CHANNELS, P2P_VERSION } from "../node-identity.ts";
import type { ServiceContext } from "./node-method.ts";

/** The SDK release that the node reports. Clients choose their behaviour by it. */
const SDK_VERSION = "v0.50.11";

/**
 * The modules whose behaviour the chain follows, with the releases of the deployed chain. Hermes chooses its encoding of
 * blocks by the third one, and refuses a chain without the other two.
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
    version: `v${COMET_VERSION}`,
    sum: "h1:FkrQNbAjiFqXydeAO81FUzriL4Bz0abYxN/eOHrQGOk=",
  },
];

/** What the node reports about itself. The Go version stays empty, and so do the dependencies that no client uses. */
export function nodeInfo({ view, chainName, rpcAddress }: ServiceContext): GetNodeInfoResponse {
  const { chainId, moniker, appVersion, latestHeight } = view.status();
  const version = view.block(latestHeight)?.header.version ?? { block: 11n, app: 0n };
  return {
    defaultNodeInfo: {
      protocolVersion: { p2p: P2P_VERSION, block: version.block, app: version.app },
      defaultNodeId: nodeId(chainId, moniker),
      listenAddr: "tcp://127.0.0.1:0",
      network: chainId,
      version: COMET_VERSION,
      channels: fromHex(P2P_CHANNELS),
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

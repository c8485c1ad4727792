import { fromHex, toHex, utf8 } from "../../base/bytes.ts";
import { sha256 } from "../../base/sha256.ts";
import type { GetNodeInfoResponse } from "../../proto/gen/cosmos/base/tendermint/v1beta1/query.ts";
import type { ServiceContext } from "./node-method.ts";

/** CometBFT and SDK releases whose faces this node shows: clients choose what to expect by them. */
const COMET_VERSION = "0.38.17";
const SDK_VERSION = "v0.50.11";

/** P2P protocol version and channels as CometBFT announces them. There are no peers. */
const P2P_VERSION = 8n;
const CHANNELS = fromHex("40202122233038606100");

/** Who the node says it is. It is no Go program: Go version and dependencies stay empty. */
export function nodeInfo({ view, chainName, rpcAddress }: ServiceContext): GetNodeInfoResponse {
  const { chainId, moniker, appVersion, latestHeight } = view.status();
  const version = view.block(latestHeight)?.header.version ?? { block: 11n, app: 0n };
  return {
    defaultNodeInfo: {
      protocolVersion: { p2p: P2P_VERSION, block: version.block, app: version.app },
      defaultNodeId: toHex(sha256(utf8(`node ${chainId} ${moniker}`)).subarray(0, 20)),
      listenAddr: "tcp://127.0.0.1:0",
      network: chainId,
      version: COMET_VERSION,
      channels: CHANNELS,
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
      buildDeps: [],
      cosmosSdkVersion: SDK_VERSION,
    },
  };
}

import type { Ports } from "../../platform/base/localnet-defaults.ts";
import type { PublicLinks } from "../../platform/monitoring/alerts/links.ts";
import type { Secret } from "../../platform/base/secret.ts";
import type { HttpAccess } from "../../platform/http/http-access.ts";
import type { DaemonEndpoint } from "../../platform/process/daemon-context.ts";
import type { ServerAddress } from "../node/base/node-server.ts";
import type { LocalnetChainOptions, LocalnetOptions } from "./create-localnet.ts";
import { CHAINS, type LocalnetChains, type LocalnetRoles } from "../accounts/chains.ts";

/** Parts of a localnet, which may run in separate processes. */
export const LOCALNET_PARTS = ["local", "remote", "sidecar", "ibc-relayer"] as const;

export type LocalnetPart = (typeof LOCALNET_PARTS)[number];

export interface LocalnetDaemonOptions
  extends Pick<LocalnetChainOptions, "profile" | "scenario" | "contracts" | "onContract">,
    Pick<LocalnetOptions, "blockTimeMs"> {
  /** Parts to run in this process. */
  readonly parts: readonly LocalnetPart[];
  readonly ports: Ports;
  /** Profiles of both chains. Default: the profiles of the default localnet. */
  readonly chains?: LocalnetChains;
  /** Names of the accounts that the relayers use to sign transactions. Default: the accounts of the default localnet. */
  readonly roles?: LocalnetRoles;
  /** Parent directory of the chains' homes. If undefined, the chains' state is in memory. */
  readonly home: string | undefined;
  /** Number of recent blocks that a chain retains, 0 to retain all blocks, or undefined to use the node's default. */
  readonly keepBlocks: number | undefined;
  /** Voting powers of the genesis validators of each chain. */
  readonly validators: Readonly<Record<"local" | "remote", readonly bigint[]>>;
  /**
   * Gas per block that simulated users spend on the local chain. The local chain must run in this process. If undefined, no users
   * are simulated.
   */
  readonly trafficGas?: bigint | undefined;
  /** Access restrictions of the chains' HTTP servers: allowed hosts and, only for RPC and REST, allowed `origins`. */
  readonly access: Required<HttpAccess>;
  /** Bearer token for the control API. If undefined, the localnet has no control API. */
  readonly controlToken: Secret | undefined;
  /** Pages of other daemons, to which the localnet's page links. If undefined, the page has no such links. */
  readonly links?: PublicLinks;
}

/** Host of all localnet servers. The host is the loopback address, so that other machines cannot connect. */
export const LOCALNET_HOST = "127.0.0.1";

export function localnetAddress(port: number): ServerAddress {
  return { host: LOCALNET_HOST, port, portOption: "--port-offset" };
}

/** Returns options for the chains in this process, or undefined if neither chain runs in this process. */
export function chainOptions({
  parts,
  ports,
  validators,
  profile,
  scenario,
  contracts = [],
  onContract,
  access,
}: LocalnetDaemonOptions): Readonly<Partial<Record<"local" | "remote", LocalnetChainOptions>>> | undefined {
  const local = {
    rpc: { ...localnetAddress(ports.localRpc), access },
    metrics: { ...localnetAddress(ports.localMetrics), access: { hosts: access.hosts } },
    validatorPowers: validators.local,
    profile,
    scenario,
    contracts,
    ...(onContract === undefined ? {} : { onContract }),
  };
  const remote = {
    rpc: { ...localnetAddress(ports.remoteRpc), access },
    validatorPowers: validators.remote,
    profile,
    localPowers: validators.local,
  };
  if (!parts.includes("local") && !parts.includes("remote")) return undefined;
  return {
    ...(parts.includes("local") ? { local } : {}),
    ...(parts.includes("remote") ? { remote } : {}),
  };
}

/** Returns the endpoints of the parts in this process, in the order of {@link LOCALNET_PARTS}. */
export function localnetEndpoints({
  parts,
  ports,
  controlToken,
  trafficGas,
  chains = CHAINS,
}: Pick<
  LocalnetDaemonOptions,
  "parts" | "ports" | "controlToken" | "trafficGas" | "chains"
>): readonly DaemonEndpoint[] {
  const { chainId: localId } = chains.local;
  const { chainId: remoteId } = chains.remote;
  const hasControl = controlToken !== undefined;
  const hasLocal = parts.includes("local");
  const byPart: Readonly<Record<LocalnetPart, readonly DaemonEndpoint[]>> = {
    remote: [
      endpoint(`${remoteId} RPC, WebSocket`, ports.remoteRpc),
      endpoint(`${remoteId} REST`, ports.remoteRest),
      { name: `${remoteId} gRPC`, url: `${LOCALNET_HOST}:${ports.remoteGrpc}` },
    ],
    local: [
      endpoint(`${localId} RPC, WebSocket`, ports.localRpc),
      endpoint(`${localId} REST`, ports.localRest),
      { name: `${localId} gRPC`, url: `${LOCALNET_HOST}:${ports.localGrpc}` },
      endpoint(`${localId} metrics`, ports.localMetrics, "/metrics"),
      ...(hasControl ? [endpoint("localnet control", ports.control)] : []),
      ...(hasControl && trafficGas !== undefined
        ? [endpoint("localnet traffic metrics", ports.control, "/metrics")]
        : []),
    ],
    sidecar: [
      endpoint("sidecar prices", ports.prices, "/connect/oracle/v2/prices"),
      endpoint("sidecar oracle metrics", ports.oracleMetrics, "/metrics"),
      endpoint("sidecar metrics", ports.sidecarMetrics, "/metrics"),
      ...(hasControl && !hasLocal ? [endpoint("sidecar control", ports.sidecarControl)] : []),
    ],
    "ibc-relayer":
      hasControl && hasLocal
        ? [
            endpoint("IBC relayer", ports.control, "/ibc-relayer"),
            endpoint("IBC relayer metrics", ports.control, "/metrics"),
          ]
        : [],
  };
  return LOCALNET_PARTS.filter((part) => parts.includes(part)).flatMap((part) => byPart[part]);
}

function endpoint(name: string, port: number, path = ""): DaemonEndpoint {
  return { name, url: `http://${LOCALNET_HOST}:${port}${path}` };
}

import type { Ports } from "../../platform/base/localnet-defaults.ts";
import { controlToken, controlTokenFile } from "../../platform/cli/state-home.ts";
import { type ParsedConfig, readConfig } from "../../platform/config/config.ts";
import { type WatchdogDaemonConfig, watchdogConfigSchema } from "../config/config.ts";

/** The data about the local chain that is needed to configure a localnet's watchdog. */
interface LocalnetOfWatchdog {
  readonly chainId: string;
  readonly ports: Ports;
  /** The first path segment of REST queries to the chain's own modules (`module` in the configuration). */
  readonly chainName: string;
  /** The bech32 addresses of the validator that runs the sidecar. */
  readonly validator: Readonly<Record<"consensus" | "operator", string>>;
}

/**
 * Returns the watchdog configuration for the localnet at the given port offset. The control API's token also grants access to the
 * watchdog's guarded routes. If there is no port offset, the configuration contains no token.
 */
export function localnetWatchdogConfig(
  portOffset: number | undefined,
  stateDir: string | undefined,
  { chainId, ports, chainName, validator }: LocalnetOfWatchdog,
  hosts: readonly string[] = [],
): ParsedConfig<WatchdogDaemonConfig> {
  // Create the token file to which the configuration refers.
  if (portOffset !== undefined) controlToken(portOffset);
  const token =
    portOffset === undefined ? "" : `, token: { file: ${JSON.stringify(controlTokenFile(portOffset))} }`;
  const text = `
http: { listen: "127.0.0.1:${ports.watchdog}", hosts: ${JSON.stringify(hosts)}${token} }
chain_id: ${JSON.stringify(chainId)}
consensus_address: ${JSON.stringify(validator.consensus)}
operator_address: ${JSON.stringify(validator.operator)}
interval: 1s
sources:
  node: "http://127.0.0.1:${ports.localMetrics}/metrics"
  prices: "http://127.0.0.1:${ports.prices}/"
  oracle_metrics: "http://127.0.0.1:${ports.oracleMetrics}/metrics"
  sidecar_metrics: "http://127.0.0.1:${ports.sidecarMetrics}/metrics"
chain:
  rest: "http://127.0.0.1:${ports.localRest}"
  rpc: "http://127.0.0.1:${ports.localRpc}"
  module: ${JSON.stringify(chainName)}
policy: { from_chain: true }
${stateDir === undefined ? "" : `state_dir: ${JSON.stringify(stateDir)}`}
`;
  return readConfig({ file: "localnet watchdog", text }, watchdogConfigSchema);
}

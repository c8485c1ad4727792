import { type Ports, portsAt } from "../../platform/base/localnet-defaults.ts";
import { controlToken, controlTokenFile } from "../../platform/cli/state-home.ts";
import { type ParsedConfig, readConfig } from "../../platform/config/config.ts";
import { type WatchdogDaemonConfig, watchdogConfigSchema } from "../config/config.ts";

/** The local chain of a localnet, as its watchdog needs it. */
interface LocalnetOfWatchdog {
  readonly chainId: string;
  readonly ports: Ports;
}

/** Watchdog configuration for a localnet at this port offset. The control API's token grants access to guarded routes. */
export function localnetWatchdogConfig(
  portOffset: number,
  stateDir: string | undefined,
  hosts: readonly string[] = [],
  { chainId, ports }: LocalnetOfWatchdog = { chainId: "local-1", ports: portsAt(portOffset) },
): ParsedConfig<WatchdogDaemonConfig> {
  // Creates the file, which the configuration refers to.
  controlToken(portOffset);
  const token = JSON.stringify(controlTokenFile(portOffset));
  const text = `
http: { listen: "127.0.0.1:${ports.watchdog}", hosts: ${JSON.stringify(hosts)}, token: { file: ${token} } }
chain_id: ${JSON.stringify(chainId)}
interval: 1s
sources:
  node: "http://127.0.0.1:${ports.localMetrics}/metrics"
  prices: "http://127.0.0.1:${ports.prices}/"
  oracle_metrics: "http://127.0.0.1:${ports.oracleMetrics}/metrics"
  sidecar_metrics: "http://127.0.0.1:${ports.sidecarMetrics}/metrics"
${stateDir === undefined ? "" : `state_dir: ${JSON.stringify(stateDir)}`}
`;
  return readConfig({ file: "localnet watchdog", text }, watchdogConfigSchema);
}

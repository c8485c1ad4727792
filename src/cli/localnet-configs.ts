import { type Ports, portsAt } from "../platform/base/default-ports.ts";
import { localnetAccounts } from "../localnet/network/accounts.ts";
import { parseConfig } from "../platform/config/config.ts";
import { type RelayerConfig, relayerConfigSchema } from "../relayer/config.ts";
import { type WatchdogConfig, watchdogConfigSchema } from "../watchdog/config.ts";
import { unreachable } from "../platform/base/errors.ts";
import { controlToken, controlTokenFile } from "../platform/cli/state-home.ts";

/** Relayer configuration for a localnet on these ports. Transactions are signed by the public test account `relayer`. */
export function localnetRelayerConfig(
  ports: Ports,
  stateDir: string | undefined,
  hosts: readonly string[] = [],
): RelayerConfig {
  const text = `
chain: { id: local-1, rpc: ["http://127.0.0.1:${ports.localRpc}"] }
signer: { mnemonic: { env: LOCALNET_RELAYER_MNEMONIC } }
connections:
  - { id: connection-0, chain_id: remote-1, rpc: ["http://127.0.0.1:${ports.remoteRpc}"] }
http: { listen: "127.0.0.1:${ports.relayer}", hosts: ${JSON.stringify(hosts)} }
${stateDir === undefined ? "" : `state_dir: ${JSON.stringify(stateDir)}`}
`;
  const secrets = { environment: relayerMnemonic, file: () => unreachable("no file is named") };
  return parseConfig({ file: "localnet relayer", text }, relayerConfigSchema(secrets));
}

/** Watchdog configuration for a localnet at this port offset. The token of the control API opens its guarded routes. */
export function localnetWatchdogConfig(
  portOffset: number,
  stateDir: string | undefined,
  hosts: readonly string[] = [],
): WatchdogConfig {
  const ports = portsAt(portOffset);
  // Creates the file, which the configuration refers to.
  controlToken(portOffset);
  const token = JSON.stringify(controlTokenFile(portOffset));
  const text = `
http: { listen: "127.0.0.1:${ports.watchdog}", hosts: ${JSON.stringify(hosts)}, token: { file: ${token} } }
chain_id: local-1
interval: 1s
sources:
  node: "http://127.0.0.1:${ports.localMetrics}/metrics"
  prices: "http://127.0.0.1:${ports.prices}/"
  oracle_metrics: "http://127.0.0.1:${ports.oracleMetrics}/metrics"
  sidecar_metrics: "http://127.0.0.1:${ports.sidecarMetrics}/metrics"
${stateDir === undefined ? "" : `state_dir: ${JSON.stringify(stateDir)}`}
`;
  return parseConfig({ file: "localnet watchdog", text }, watchdogConfigSchema);
}

function relayerMnemonic(): string | undefined {
  return localnetAccounts().find(({ name, chainId }) => name === "relayer" && chainId === "local-1")
    ?.mnemonic;
}

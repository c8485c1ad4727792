import { type Ports } from "../../platform/base/localnet-defaults.ts";
import { LOCALNET_RELAYER_MNEMONIC } from "../../platform/base/localnet-defaults.ts";
import { unreachable } from "../../platform/base/errors.ts";
import { parseConfig } from "../../platform/config/config.ts";
import { type RelayerConfig, relayerConfigSchema } from "../config.ts";

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
  const secrets = {
    environment: () => LOCALNET_RELAYER_MNEMONIC,
    file: () => unreachable("no file is named"),
  };
  return parseConfig({ file: "localnet relayer", text }, relayerConfigSchema(secrets));
}

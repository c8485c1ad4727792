import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringToPath } from "@cosmjs/crypto";
import { DirectSecp256k1HdWallet } from "@cosmjs/proto-signing";
import type { CliHome, CliProcess } from "../e2e/cli-process.ts";
import type { LocalnetEndpoints } from "../e2e/localnet-endpoints.ts";
import { testAccount } from "../e2e/test-account.ts";
import { type FaultProxy, startFaultProxy } from "../fault-proxy.ts";
import { leasePort } from "../port-lease.ts";

/** A relayer in a process of its own, with an account and queries of its own, which reaches both chains through proxies. */
export interface FaultyRelayer {
  /** "host:port" of its metrics. */
  readonly target: string;
  readonly address: string;
  readonly local: FaultProxy;
  readonly remote: FaultProxy;
  /** Starts it, again after {@link FaultyRelayer.stop}, with more lines of configuration. */
  readonly start: (...lines: readonly string[]) => Promise<void>;
  readonly stop: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface FaultyRelayerOptions {
  readonly name: string;
  /** Number of its account, which is empty at first. */
  readonly account: number;
  readonly queries: readonly bigint[];
  /** More endpoints of the remote chain, after the proxy. */
  readonly remotes?: readonly string[];
}

/** Prepares a relayer. Short limits, so that problems come within seconds. */
export async function openFaultyRelayer(
  home: CliHome,
  { rpc }: LocalnetEndpoints,
  { name, account, queries, remotes = [] }: FaultyRelayerOptions,
): Promise<FaultyRelayer> {
  const { mnemonic } = await testAccount(home, "relayer");
  const hdPath = `m/44'/118'/${account}'/0/0`;
  const options = { prefix: "neutron", hdPaths: [stringToPath(hdPath)] };
  const [key] = await (await DirectSecp256k1HdWallet.fromMnemonic(mnemonic, options)).getAccounts();
  const [local, remote, port] = await Promise.all([
    startFaultProxy(rpc.local),
    startFaultProxy(rpc.remote),
    leasePort(),
  ]);
  const secret = join(home.directory, `${name}.mnemonic`);
  writeFileSync(secret, mnemonic, { mode: 0o600 });
  const config = join(home.directory, `${name}.yaml`);
  const urls = [remote.url, ...remotes].map((url) => JSON.stringify(url)).join(", ");
  let process: CliProcess | undefined;
  const stop = async (): Promise<void> => {
    process?.kill("SIGKILL");
    await process?.exited;
  };
  return {
    target: `127.0.0.1:${port}`,
    address: key?.address ?? "",
    local,
    remote,
    start: async (...lines) => {
      writeFileSync(
        config,
        `
chain: { id: local-1, rpc: ["${local.url}"] }
signer: { mnemonic: { file: "${secret}" }, hd_path: "${hdPath}" }
connections: [{ id: connection-0, chain_id: remote-1, rpc: [${urls}] }]
queries: { ids: [${queries.map((id) => `"${id}"`).join(", ")}], reload_every: 2s, tx_lookback_blocks: "400" }
deadlines: { call: 2s, inclusion: 5s }
retry: { first: 500ms, most: 2s }
health: { no_block_after: 3s, overdue_blocks: 4 }
http: { listen: "127.0.0.1:${port}" }
${lines.join("\n")}
`,
      );
      process = home.start("relayer", "start", "--config", config);
      await process.printed(/icq-relayer +http/);
    },
    stop,
    close: async () => {
      await stop();
      await local.close();
      await remote.close();
    },
  };
}

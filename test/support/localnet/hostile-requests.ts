import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ChainClient } from "../../../src/cosmos/client/chain-client.ts";
import { createChainClient } from "../../../src/cosmos/client/create-chain-client.ts";
import { silentObserver } from "../../../src/cosmos/client/rpc-caller.ts";
import { QueryResult } from "../../../src/cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import { messageToJson } from "../../../src/cosmos/proto/json.ts";
import { CHAINS } from "../../../src/localnet/accounts/chains.ts";
import { AUTHORITY, propose } from "../../../src/localnet/cli/localnet-scenario.ts";
import { createScenarioChain } from "../../../src/localnet/cli/scenario/scenario-chain.ts";
import { toBase64 } from "../../../src/platform/base/bytes.ts";
import { systemClock } from "../../../src/platform/base/clock.ts";
import { isRecord, type JsonObject, stringifyJson } from "../../../src/platform/base/json.ts";
import { silentLogger } from "../../../src/platform/base/logger.ts";
import { fieldAt, listAt, cellText } from "../../../src/platform/cli/table.ts";
import { runCommand } from "../cli-chain.ts";

/** Chains on which a contract registers a query without a deposit. */
export const FREE_QUERIES: JsonObject = { interchainqueries: { params: { query_deposit: [] } } };

/** What the contracts' queries ask for: a key that the remote chain does not have. */
const STORE = "bank";
const KEY = Uint8Array.of(2, 1, 1);

/** What a contract's instantiation returns: the registration of a query of an account on the remote chain. */
export const REGISTRATION = JSON.stringify({
  ok: {
    messages: [
      {
        id: 0,
        msg: {
          custom: {
            register_interchain_query: {
              query_type: "kv",
              keys: [{ path: STORE, key: toBase64(KEY) }],
              transactions_filter: "",
              connection_id: "connection-0",
              update_period: 2,
            },
          },
        },
        gas_limit: null,
        reply_on: "never",
      },
    ],
    attributes: [],
    events: [],
    data: null,
  },
});

/** Requests that reach a contract over the network, each as a client sends it. They return what the client is told. */
export interface HostileRequests {
  readonly query: (contract: string) => Promise<string>;
  readonly simulation: (contract: string) => Promise<string>;
  readonly "gas auto": (contract: string) => Promise<string>;
  readonly transaction: (contract: string) => Promise<string>;
  /** Subscribes the contract to a hook, delegates, and ends the subscription. */
  readonly hook: (contract: string) => Promise<string>;
  /** Submits a proven result of the contract's query in a block. A relayer would not: its simulation fails. */
  readonly callback: (contract: string) => Promise<string>;
  readonly close: () => void;
}

/** Creates requests to the local chain's node with this RPC URL. `gas` is what the transactions may use. */
export function createHostileRequests(
  url: string,
  remote: Pick<ChainClient, "readStore">,
  gas: string,
): HostileRequests {
  const { signal } = new AbortController();
  const run = async (...words: readonly string[]): Promise<string> => {
    const { message, out } = await runCommand([...words, "--node", url], signal);
    return message ?? out;
  };
  const execute = (contract: string, ...more: readonly string[]): Promise<string> =>
    run("tx", "wasm", "execute", contract, "{}", "--from", "bob", ...more);
  const client = createChainClient(
    { endpoints: [{ url }], chainId: CHAINS.local.chainId },
    { clock: systemClock, random: Math.random, logger: silentLogger, observer: silentObserver },
  );
  const chain = createScenarioChain(CHAINS.local, client, signal);
  const subscribe = (contract: string, hooks: readonly string[]) =>
    propose(chain, {
      "@type": "/neutron.harpoon.MsgManageHookSubscription",
      authority: AUTHORITY,
      hook_subscription: { contract_address: contract, hooks: [...hooks] },
    });
  const operatorAddress = async (): Promise<string> => {
    const validators = await chain.ask("cosmos.staking.v1beta1.Query", "Validators", {});
    const [first] = listAt(validators, "validators");
    return isRecord(first) ? cellText(fieldAt(first, "operator_address")) : "";
  };
  const directory = mkdtempSync(join(tmpdir(), "relaywatch-result-"));
  const lastResult = () => chain.ask("neutron.interchainqueries.Query", "QueryResult", { query_id: "1" });
  const queryOf = async (owner: string): Promise<string> => {
    const query = await chain.ask("neutron.interchainqueries.Query", "RegisteredQueries", {
      owners: [owner],
    });
    return cellText(fieldAt(listAt(query, "registered_queries")[0] ?? null, "id"));
  };
  return {
    callback: async (contract) => {
      // The relayer has brought a result of query 1, so the light client knows this height.
      const known = await lastResult();
      const height = cellText(fieldAt(known, "result.height"));
      const revision = cellText(fieldAt(known, "result.revision"));
      const at = { store: STORE, key: KEY, height: BigInt(height) };
      const { proof } = await remote.readStore(at, signal);
      const result = QueryResult.encode({
        kvResults: [{ storagePrefix: STORE, key: KEY, value: new Uint8Array(0), Proof: { ops: [...proof] } }],
        block: undefined,
        height: BigInt(height),
        revision: BigInt(revision),
        allowKvCallbacks: true,
      }).finish();
      const file = join(directory, "result.json");
      writeFileSync(file, stringifyJson(messageToJson("neutron.interchainqueries.QueryResult", result)));
      const submit = ["tx", "interchainqueries", "submit-query-result", await queryOf(contract), file];
      return run(...submit, "--from", "bob", "--gas", gas);
    },
    query: (contract) => run("query", "wasm", "contract-state", "smart", contract, "{}"),
    simulation: (contract) => execute(contract, "--dry-run"),
    "gas auto": (contract) => execute(contract, "--gas", "auto"),
    transaction: (contract) => execute(contract, "--gas", gas),
    hook: async (contract) => {
      await subscribe(contract, ["HOOK_TYPE_AFTER_DELEGATION_MODIFIED"]);
      const told = await run(
        "tx",
        "staking",
        "delegate",
        await operatorAddress(),
        "1000untrn",
        "--from",
        "bob",
        "--gas",
        gas,
      );
      await subscribe(contract, []);
      return told;
    },
    close: () => {
      client.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

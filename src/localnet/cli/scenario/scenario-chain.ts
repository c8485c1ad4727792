import type { SearchPage } from "../../../cosmos/client/chain-client.ts";
import type { PooledChainClient } from "../../../cosmos/client/create-chain-client.ts";
import { createTxSender } from "../../../cosmos/client/tx/create-tx-sender.ts";
import { createSigner } from "../../../cosmos/client/tx/signer.ts";
import type { Confirmation } from "../../../cosmos/client/tx/tx-types.ts";
import { TxMsgData } from "../../../cosmos/proto/gen/cosmos/base/abci/v1beta1/abci.ts";
import { messageFromJson, messageToJson } from "../../../cosmos/proto/json.ts";
import { findService } from "../../../cosmos/proto/registry.ts";
import { raceAbort } from "../../../platform/base/abort.ts";
import { toHex } from "../../../platform/base/bytes.ts";
import { systemClock } from "../../../platform/base/clock.ts";
import { parseDec18 } from "../../../platform/base/decimal.ts";
import { CliError, EXIT, unreachable } from "../../../platform/base/errors.ts";
import type { JsonObject, JsonValue } from "../../../platform/base/json.ts";
import { silentLogger } from "../../../platform/base/logger.ts";
import { Secret } from "../../../platform/base/secret.ts";
import { accountNamed, type ChainProfile } from "../../accounts/chains.ts";

export interface ScenarioTx {
  readonly hash: string;
  readonly confirmation: Confirmation;
  /** Response to the transaction's message, or null if the transaction failed. */
  readonly response: JsonValue;
}

/** Client for scenarios that queries a local chain and sends transactions from public test accounts with fixed fees. */
export type ScenarioChain = ReturnType<typeof createScenarioChain>;

/**
 * Gas limit of every scenario transaction, which is more than any message needs. The limit is not estimated with a simulation,
 * because a simulation would reject messages that a scenario sends in order to fail in a block.
 */
const GAS_LIMIT = 1_500_000n;

export function createScenarioChain(profile: ChainProfile, client: PooledChainClient, signal: AbortSignal) {
  const deps = { client, clock: systemClock, random: Math.random, logger: silentLogger };
  const gasPrice = { denom: profile.denom, multiplier: parseDec18("1.2"), cap: parseDec18("100") };
  const senderOf = async (account: string) => {
    const mnemonic = new Secret(accountNamed(profile, account).mnemonic);
    const signer = await createSigner({ kind: "mnemonic", mnemonic }, profile.bech32Prefix);
    return createTxSender({ chainId: profile.chainId, memo: "scenario", gasPrice }, { ...deps, signer });
  };
  return {
    /** Runs a gRPC query such as `SupplyOf` in the service `cosmos.bank.v1beta1.Query`. Rejects with `ClientError`. */
    ask: async (service: string, rpc: string, request: JsonObject): Promise<JsonValue> => {
      const method =
        findService(service)?.methods.find(({ name }) => name === rpc) ?? unreachable(`no query ${rpc}`);
      const bytes = messageFromJson(method.requestType, request);
      return messageToJson(method.responseType, await client.grpcQuery(method.path, bytes, signal));
    },
    /** Sends a message, given as proto JSON, from a test account. Resolves even if the transaction fails in its block. */
    send: async (account: string, type: string, fields: JsonObject): Promise<ScenarioTx> => {
      const sender = await senderOf(account);
      const message = { typeUrl: `/${type}`, value: messageFromJson(type, fields) };
      const { hash, confirmation } = await sender.send([message], GAS_LIMIT, signal);
      if (confirmation.kind === "lost" || confirmation.kind === "refused")
        throw new CliError(
          EXIT.tryAgain,
          `${profile.chainId} did not include a transaction from ${account}: ${"reason" in confirmation ? confirmation.reason : confirmation.log}`,
        );
      return { hash: toHex(hash).toUpperCase(), confirmation, response: responseOf(type, confirmation) };
    },
    /** Returns the events of the first transaction that matches the query, or an empty list if none matches. */
    eventsOf: async (query: string): Promise<SearchPage["txs"][number]["result"]["events"]> => {
      const { txs } = await raceAbort(client.comet.txSearch({ query, per_page: 1 }), signal);
      return txs[0]?.result.events ?? [];
    },
  };
}

function responseOf(type: string, confirmation: Confirmation): JsonValue {
  if (confirmation.kind !== "included") return null;
  const [first] = TxMsgData.decode(confirmation.data).msgResponses;
  return first === undefined ? null : messageToJson(`${type}Response`, first.value);
}

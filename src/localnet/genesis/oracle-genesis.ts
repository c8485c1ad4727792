import { isRecord, type JsonObject, type JsonValue } from "../../platform/base/json.ts";
import { formatAddress, moduleAddress } from "../chain/runtime/address.ts";
import { TREASURY } from "../chain/modules/revenue/keeper.ts";
import type { GenesisDoc } from "../node/base/genesis-doc.ts";
import { DEFAULT_MARKETS } from "../sidecar/markets.ts";
import type { ChainProfile } from "../accounts/chains.ts";

/** The asset in which the deployed chain pays validators. The chain finds the asset's price by the symbol in its metadata. */
const REWARD = {
  denom: "untrn",
  metadata: {
    description: "The native staking token of the local chain",
    denom_units: [
      { denom: "untrn", exponent: 0, aliases: [] },
      { denom: "ntrn", exponent: 6, aliases: ["NTRN"] },
    ],
    base: "untrn",
    display: "ntrn",
    name: "Neutron",
    symbol: "NTRN",
    uri: "",
    uri_hash: "",
  },
  treasury: "700000000000",
};

/** Revenue parameters as on the deployed chain, but with the specification's thresholds and a TWAP window of only one hour. */
const PROGRAMME: JsonObject = {
  reward_asset: REWARD.denom,
  reward_quote: { amount: "3000", asset: "USD" },
  blocks_performance_requirement: { allowed_to_miss: "0.005", required_at_least: "0.95" },
  oracle_votes_performance_requirement: { allowed_to_miss: "0.02", required_at_least: "0.95" },
  payment_schedule_type: { monthly_payment_schedule_type: {} },
  twap_window: "3600",
};

/**
 * Adds the sidecar's currency pairs, vote extensions from block 1 and, if the chain uses the reward asset, a treasury for payments.
 */
export function withOracle({ denom, bech32Prefix }: ChainProfile, doc: GenesisDoc): GenesisDoc {
  const pairs = DEFAULT_MARKETS.map(({ pair, decimals }, id) => {
    const [Base = "", Quote = ""] = pair.split("/");
    return {
      currency_pair: { Base, Quote },
      currency_pair_price: null,
      nonce: "0",
      id: String(id),
      decimals: String(decimals),
    };
  });
  const oracle = { currency_pair_genesis: pairs, next_id: String(pairs.length) };
  const treasury = {
    address: formatAddress(bech32Prefix, moduleAddress(TREASURY)),
    coins: [{ denom: REWARD.denom, amount: REWARD.treasury }],
  };
  const pays = denom === REWARD.denom;
  const bank = recordOf(doc.appState["bank"]);
  const metadata = listOf(bank["denom_metadata"]);
  const isNamed = metadata.some((one) => recordOf(one)["base"] === REWARD.denom);
  return {
    ...doc,
    consensusParams: { ...doc.consensusParams, voteExtensionsEnableHeight: 1n },
    appState: {
      ...doc.appState,
      consensus: { params: { abci: { vote_extensions_enable_height: "1" } } },
      oracle,
      ...(pays
        ? {
            bank: {
              ...bank,
              balances: [...listOf(bank["balances"]), treasury],
              denom_metadata: isNamed ? metadata : [...metadata, REWARD.metadata],
            },
            revenue: { params: PROGRAMME },
          }
        : {}),
    },
  };
}

function recordOf(value: JsonValue | undefined): JsonObject {
  return isRecord(value) ? value : {};
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

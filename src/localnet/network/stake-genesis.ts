import { encodeBech32 } from "../../platform/base/bech32.ts";
import { toBase64 } from "../../platform/base/bytes.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../platform/base/json.ts";
import { formatRfc3339Ns } from "../../platform/base/rfc3339.ts";
import { NOT_BONDED_POOL } from "../chain/modules/staking/keys.ts";
import { formatAddress, moduleAddress, parseAddress } from "../chain/runtime/address.ts";
import { testValidatorSeed, validatorKey } from "../node/consensus/validators.ts";
import { accountsOf } from "./accounts.ts";
import type { ChainProfile } from "./chains.ts";

interface StakeOptions {
  readonly timeNs: bigint;
  readonly validatorPowers: readonly bigint[];
}

/** Tokens of one unit of power. */
const TOKENS = 1_000_000n;

/**
 * Adds the validators of the document to the state of staking, each with a delegation of its operator. Operators are the test
 * accounts, beginning with `operator`; from the sixth on they are accounts without a key. The tokens are new coins in the pool of
 * validators that are not bonded: all of them bond when the chain starts.
 */
export function withStake(chain: ChainProfile, options: StakeOptions, state: JsonObject): JsonObject {
  const operators = options.validatorPowers.map((_, index) => operatorOf(chain, index));
  const tokens = options.validatorPowers.map((power) => power * TOKENS);
  const total = tokens.reduce((sum, amount) => sum + amount, 0n);
  const pool = {
    address: formatAddress(chain.bech32Prefix, moduleAddress(NOT_BONDED_POOL)),
    coins: [{ denom: chain.denom, amount: total.toString() }],
  };
  const bank = isRecord(state["bank"]) ? state["bank"] : {};
  const balances: readonly JsonValue[] = Array.isArray(bank["balances"]) ? bank["balances"] : [];
  return {
    ...state,
    bank: { ...bank, balances: [...balances, pool] },
    staking: {
      params: {
        unbonding_time: "1814400s",
        max_validators: 100,
        max_entries: 7,
        historical_entries: 10_000,
        bond_denom: chain.denom,
        min_commission_rate: "0",
      },
      validators: tokens.map((amount, index) => validatorOf(chain, options, { index, amount })),
      delegations: tokens.map((amount, index) => ({
        delegator_address: formatAddress(chain.bech32Prefix, operators[index] ?? new Uint8Array(20)),
        validator_address: operatorText(chain, index),
        shares: `${amount}.000000000000000000`,
      })),
    },
  };
}

function validatorOf(
  chain: ChainProfile,
  { timeNs }: StakeOptions,
  { index, amount }: { readonly index: number; readonly amount: bigint },
): JsonObject {
  const { publicKey } = validatorKey(testValidatorSeed(chain.chainId, index));
  return {
    operator_address: operatorText(chain, index),
    consensus_pubkey: { "@type": "/cosmos.crypto.ed25519.PubKey", key: toBase64(publicKey) },
    status: "BOND_STATUS_UNBONDED",
    tokens: amount.toString(),
    delegator_shares: `${amount}.000000000000000000`,
    description: { moniker: `validator-${index}` },
    unbonding_time: "1970-01-01T00:00:00Z",
    commission: {
      commission_rates: { rate: "0.1", max_rate: "0.2", max_change_rate: "0.01" },
      update_time: formatRfc3339Ns(timeNs),
    },
    min_self_delegation: "1",
  };
}

function operatorText(chain: ChainProfile, index: number): string {
  return encodeBech32(`${chain.bech32Prefix}valoper`, operatorOf(chain, index));
}

function operatorOf(chain: ChainProfile, index: number): Uint8Array {
  const accounts = accountsOf(chain).map(({ address }) => parseAddress(chain.bech32Prefix, address));
  // `operator` is the fourth account.
  const account = index < accounts.length ? accounts[(index + 3) % accounts.length] : undefined;
  return account ?? validatorKey(testValidatorSeed(chain.chainId, index)).address;
}

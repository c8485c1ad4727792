import * as wire from "../../cosmos/proto/gen/neutron/dex/tx.ts";
import { HookType } from "../../cosmos/proto/gen/neutron/harpoon/hooks.ts";
import { encodeBech32, sha256, toBase64 } from "../../platform/base/bytes.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../platform/base/json.ts";
import { NS_PER_SECOND } from "../../platform/base/time.ts";
import { seedDex, type SeededDex } from "../chain/modules/dex/genesis.ts";
import { classicContractAddress } from "../chain/modules/wasm/keeper.ts";
import { profileNamed } from "../chain/deviations/profile-named.ts";
import type { ProfileName } from "../chain/deviations/deviations.ts";
import { formatAddress, moduleAddress } from "../chain/runtime/address.ts";
import { accountNamed, accountsOf, type ChainProfile } from "../accounts/chains.ts";

/** Staking hooks to which the `voting-power` contract subscribes, because they can change a validator's voting power. */
const POWER_HOOKS: readonly HookType[] = [
  HookType.HOOK_TYPE_AFTER_VALIDATOR_CREATED,
  HookType.HOOK_TYPE_AFTER_VALIDATOR_REMOVED,
  HookType.HOOK_TYPE_AFTER_VALIDATOR_BONDED,
  HookType.HOOK_TYPE_AFTER_VALIDATOR_BEGIN_UNBONDING,
  HookType.HOOK_TYPE_BEFORE_DELEGATION_REMOVED,
  HookType.HOOK_TYPE_AFTER_DELEGATION_MODIFIED,
  HookType.HOOK_TYPE_BEFORE_VALIDATOR_SLASHED,
];

export interface WasmState {
  readonly codes: readonly { readonly name: string; readonly creator: string }[];
  readonly gen_msgs: readonly JsonObject[];
}

/**
 * Returns the state for `hooks-demo`. The contract `echo` emits an event for each staking hook, and `voting-power` tracks stake.
 * Both contracts receive the first validator's hooks.
 */
export function seedHooksDemo(
  chain: ChainProfile,
  wasm: WasmState,
): { readonly wasm: WasmState; readonly harpoon: JsonObject } {
  const echo = instantiate(chain, wasm, "echo");
  const power = instantiate(chain, echo.state, "voting-power");
  const types = Object.entries(HookType).filter(([, type]) => type !== HookType.HOOK_TYPE_UNSPECIFIED);
  const hook_subscriptions: JsonValue = types.map(([name, type]) => ({
    hook_type: name,
    contract_addresses: POWER_HOOKS.includes(type) ? [echo.address, power.address] : [echo.address],
  }));
  return { wasm: power.state, harpoon: { hook_subscriptions } };
}

/** Returns a `gen_msgs` entry that instantiates a contract. */
export function instantiation(
  sender: string,
  { admin = sender, codeId, label, msg = {}, funds = [] }: Instantiation,
): JsonObject {
  return { instantiate_contract: { sender, admin, code_id: codeId.toString(), label, msg, funds } };
}

interface Instantiation {
  readonly admin?: string;
  readonly codeId: bigint | number;
  readonly label: string;
  readonly msg?: JsonValue;
  readonly funds?: JsonValue;
}

/** Adds a contract instance to the Wasm state, and the contract's code unless the state already contains the code. */
function instantiate(chain: ChainProfile, { codes, gen_msgs }: WasmState, name: string) {
  const creator = accountNamed(chain, "operator").address;
  const all = codes.some((code) => code.name === name) ? codes : [...codes, { name, creator }];
  const codeId = BigInt(all.findIndex((code) => code.name === name) + 1);
  const instances = gen_msgs.filter((message) => isRecord(message["instantiate_contract"])).length;
  const message = instantiation(creator, { codeId, label: name });
  return {
    state: { codes: all, gen_msgs: [...gen_msgs, message] },
    address: encodeBech32(chain.bech32Prefix, classicContractAddress(codeId, BigInt(instances + 1))),
  };
}

/** Denominations that `dex-demo` adds to the chain's native denomination. */
const ATOM = "uibcatom";
const USDC = "uibcusdc";
/** Balance of each test account in each denomination, in micro units. */
const BALANCE = 1_000_000_000_000_000n;
const MICRO = 1_000_000n;
const THIRTY_DAYS_S = 30n * 86_400n;

/**
 * Alice's pools, as tuples of token0, token1, center tick, fee, and the amounts of both tokens in whole coins. An ATOM costs about
 * 10 NTRN or 5 USDC in these pools.
 */
const POOLS = [
  [ATOM, "untrn", -23_027n, 5n, 1_000n, 10_000n],
  [ATOM, "untrn", -23_027n, 20n, 5_000n, 50_000n],
  [ATOM, "untrn", -23_050n, 100n, 20_000n, 200_000n],
  [USDC, "untrn", -6_931n, 10n, 50_000n, 100_000n],
  [ATOM, USDC, -16_095n, 10n, 10_000n, 50_000n],
] as const;

/**
 * Bob's limit orders, as tuples of token to sell, token to buy, tick index (from token sold to token bought), amount in whole
 * coins, and order type.
 */
const ORDERS = [
  ["untrn", ATOM, 22_900n, 3_000n, wire.LimitOrderType.GOOD_TIL_CANCELLED],
  ["untrn", ATOM, 22_800n, 4_000n, wire.LimitOrderType.GOOD_TIL_TIME],
  [ATOM, "untrn", -23_200n, 250n, wire.LimitOrderType.GOOD_TIL_CANCELLED],
  [USDC, "untrn", -7_200n, 1_500n, wire.LimitOrderType.GOOD_TIL_CANCELLED],
] as const;

/** Returns the state for `dex-demo`: pools for three pairs, and limit orders on both sides of the market. */
export function seedDexDemo(chain: ChainProfile, timeNs: bigint, profile?: ProfileName): SeededDex {
  const { chainName, bech32Prefix, denom } = chain;
  const coins = [ATOM, USDC, denom].map((each) => ({ denom: each, amount: BALANCE }));
  return seedDex({
    chainName,
    bech32Prefix,
    authority: formatAddress(bech32Prefix, moduleAddress("adminmodule")),
    timeNs,
    profile: profileNamed(profile),
    balances: accountsOf(chain).map(({ address }) => ({ address, coins })),
    deposits: POOLS.map((pool) => depositOf(accountNamed(chain, "alice").address, pool)),
    orders: ORDERS.map((order) => orderOf(accountNamed(chain, "bob").address, order, timeNs)),
  });
}

function depositOf(
  creator: string,
  [tokenA, tokenB, tick, fee, amountA, amountB]: (typeof POOLS)[number],
): wire.MsgDeposit {
  const options = {
    disableAutoswap: false,
    failTxOnBel: true,
    swapOnDeposit: false,
    swapOnDepositSlopToleranceBps: 0n,
  };
  return {
    creator,
    receiver: creator,
    tokenA,
    tokenB,
    amountsA: [(amountA * MICRO).toString()],
    amountsB: [(amountB * MICRO).toString()],
    tickIndexesAToB: [tick],
    fees: [fee],
    options: [options],
  };
}

function orderOf(
  creator: string,
  [tokenIn, tokenOut, tickIndexInToOut, amount, orderType]: (typeof ORDERS)[number],
  timeNs: bigint,
): wire.MsgPlaceLimitOrder {
  const isTimed = orderType === wire.LimitOrderType.GOOD_TIL_TIME;
  const seconds = timeNs / NS_PER_SECOND + THIRTY_DAYS_S;
  return {
    creator,
    receiver: creator,
    tokenIn,
    tokenOut,
    tickIndexInToOut,
    amountIn: (amount * MICRO).toString(),
    orderType,
    expirationTime: isTimed ? { seconds, nanos: 0 } : undefined,
    maxAmountOut: "",
    limitSellPrice: "",
    minAverageSellPrice: "",
  };
}

/** A binary contract in the genesis of a new local chain. */
export interface GenesisContract {
  /** The contract's uncompressed WebAssembly code. */
  readonly code: Uint8Array;
  /** Instantiation message. */
  readonly init: JsonValue;
  readonly label: string;
  /** Name of the test account that may migrate the contract. */
  readonly admin: string;
}

export interface PlacedContract {
  readonly label: string;
  readonly codeId: bigint;
  readonly address: string;
}

interface WasmGenesis {
  readonly codes: readonly JsonObject[];
  readonly gen_msgs: readonly JsonObject[];
}

/** Appends contracts to the Wasm module's genesis. For each contract, `operator` uploads a separate code and instantiates it. */
export function addContracts(
  chain: ChainProfile,
  { codes, gen_msgs }: WasmGenesis,
  contracts: readonly GenesisContract[],
): WasmGenesis & { readonly placed: readonly PlacedContract[] } {
  if (contracts.length === 0) return { codes, gen_msgs, placed: [] };
  const creator = accountNamed(chain, "operator").address;
  const instances = gen_msgs.filter((message) => isRecord(message["instantiate_contract"])).length;
  const placed = contracts.map(({ label }, index) => {
    const codeId = BigInt(codes.length + index + 1);
    const address = classicContractAddress(codeId, BigInt(instances + index + 1));
    return { label, codeId, address: encodeBech32(chain.bech32Prefix, address) };
  });
  return {
    codes: [...codes, ...contracts.map(({ code }) => binaryCode(code, creator))],
    gen_msgs: [
      ...gen_msgs,
      ...contracts.map(({ admin, label, init }, index) =>
        instantiation(creator, {
          admin: accountNamed(chain, admin).address,
          codeId: codes.length + index + 1,
          label,
          msg: init,
        }),
      ),
    ],
    placed,
  };
}

function binaryCode(code: Uint8Array, creator: string): JsonObject {
  return {
    code_info: {
      code_hash: toBase64(sha256(code)),
      creator,
      instantiate_config: { permission: "Everybody", addresses: [] },
    },
    code_bytes: toBase64(code),
    pinned: false,
  };
}

import type { JsonValue } from "../../../base/json.ts";
import type { Params } from "../../../proto/gen/cosmos/auth/v1beta1/auth.ts";
import { GenesisState } from "../../../proto/gen/cosmos/auth/v1beta1/genesis.ts";
import type { Account } from "../../runtime/ante/ante-step.ts";
import type { Context } from "../../runtime/context.ts";
import {
  GenesisError,
  type GenesisForm,
  givesPart,
  printGenesis,
  readGenesis,
} from "../../runtime/genesis.ts";
import { type AuthKeeper, fromAny, toAny } from "./keeper.ts";
import { MODULE_NAME } from "./keys.ts";

const FORM: GenesisForm<GenesisState> = {
  module: MODULE_NAME,
  typeName: "cosmos.auth.v1beta1.GenesisState",
  type: GenesisState,
};

/** Parameters that a genesis without any gets: the SDK's defaults. */
const DEFAULT_PARAMS: Params = {
  maxMemoCharacters: 256n,
  txSigLimit: 7n,
  txSizeCostPerByte: 10n,
  sigVerifyCostEd25519: 590n,
  sigVerifyCostSecp256k1: 1000n,
};

/** Reads parameters and accounts. Accounts whose number is taken get the next free one, in the order of the document. */
export function initGenesis(context: Context, json: JsonValue | undefined, keeper: AuthKeeper): void {
  const state = readGenesis(FORM, json);
  keeper.setParams(
    context,
    checkParams((givesPart(json, "params") ? state?.params : undefined) ?? DEFAULT_PARAMS),
  );
  const accounts = (state?.accounts ?? []).map((any, index) =>
    readAccount(keeper, index, () => fromAny(any)),
  );
  let last = -1n;
  for (const account of withOwnNumbers(accounts)) {
    while (last < account.base.accountNumber) last = keeper.nextNumber(context);
    keeper.set(context, account);
  }
  for (const name of keeper.moduleNames) keeper.moduleAccount(context, name);
}

/** Prints parameters and all accounts by number. */
export function exportGenesis(context: Context, keeper: AuthKeeper): JsonValue {
  const accounts = [...keeper.all(context)].toSorted(byNumber);
  return printGenesis(FORM, { params: keeper.params(context), accounts: accounts.map(toAny) });
}

function checkParams(params: Params): Params {
  const fields: readonly (readonly [name: string, value: bigint])[] = [
    ["max_memo_characters", params.maxMemoCharacters],
    ["tx_sig_limit", params.txSigLimit],
    ["tx_size_cost_per_byte", params.txSizeCostPerByte],
    ["sig_verify_cost_ed25519", params.sigVerifyCostEd25519],
    ["sig_verify_cost_secp256k1", params.sigVerifyCostSecp256k1],
  ];
  for (const [name, value] of fields) {
    if (value === 0n)
      throw new GenesisError(`app_state.auth.params.${name}`, "a number above zero was expected");
  }
  return params;
}

function readAccount(keeper: AuthKeeper, index: number, read: () => Account): Account {
  try {
    const account = read();
    keeper.parseAddress(account.base.address);
    return account;
  } catch (thrown) {
    const text = thrown instanceof Error ? thrown.message : String(thrown);
    throw new GenesisError(`app_state.auth.accounts[${index}]`, text, thrown);
  }
}

function byNumber(a: Account, b: Account): number {
  return a.base.accountNumber < b.base.accountNumber ? -1 : 1;
}

/** The accounts in the order of their numbers, no number twice. */
function withOwnNumbers(accounts: readonly Account[]): readonly Account[] {
  const taken = new Set<bigint>();
  const rest: Account[] = [];
  const kept = accounts.filter((account) => {
    const isFree = !taken.has(account.base.accountNumber);
    taken.add(account.base.accountNumber);
    if (!isFree) rest.push(account);
    return isFree;
  });
  let next = 0n;
  const renumbered = rest.map((account) => {
    while (taken.has(next)) next += 1n;
    taken.add(next);
    return { ...account, base: { ...account.base, accountNumber: next } };
  });
  return [...kept, ...renumbered].toSorted(byNumber);
}

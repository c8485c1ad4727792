import { GrpcCode, QueryError } from "../../runtime/errors.ts";
import { concat } from "../../../../platform/base/bytes.ts";
import { Metadata } from "../../../../cosmos/proto/gen/cosmos/bank/v1beta1/bank.ts";
import * as wire from "../../../../cosmos/proto/gen/cosmos/bank/v1beta1/query.ts";
import type { Coin as WireCoin } from "../../../../cosmos/proto/gen/cosmos/base/v1beta1/coin.ts";
import type {
  PageRequest,
  PageResponse,
} from "../../../../cosmos/proto/gen/cosmos/base/query/v1beta1/pagination.ts";
import { amountOf, type Coin, isDenom, toWireCoin } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import { type QueryFunctions, queryHandlers } from "../../runtime/handlers.ts";
import type { QueryHandler } from "../../runtime/module.ts";
import { paginate } from "../../runtime/pagination.ts";
import { textCodec } from "../../store/collections.ts";
import { balanceOf, balancesOf, metadatas, sendEnabled, supplies } from "./balances.ts";
import type { BankAccounts } from "./keeper.ts";
import {
  BALANCE_PREFIX,
  HOLDER_PREFIX,
  holdersOf,
  lengthPrefixed,
  METADATA_PREFIX,
  MODULE_NAME,
  SEND_ENABLED_PREFIX,
  SUPPLY_PREFIX,
} from "./keys.ts";
import { moduleParams } from "./params.ts";

/** Implementations of some of the service's methods. */
type Queries = Partial<QueryFunctions<typeof wire.Query>>;

/** Creates the handlers for `cosmos.bank.v1beta1.Query`. */
export function createQueries(accounts: BankAccounts): readonly QueryHandler[] {
  return queryHandlers(wire.Query, {
    ...balanceQueries(accounts),
    ...supplyQueries,
    ...metadataQueries,
    ...holderQueries(accounts),
    Params: moduleParams.query,
    SendEnabled: sendEnabledPage,
  });
}

function balanceQueries(accounts: BankAccounts) {
  const one = (context: Context, request: wire.QueryBalanceRequest): { readonly balance: WireCoin } => {
    requireDenom(request.denom);
    const address = readAddress(request.address, accounts);
    return { balance: toWireCoin(balanceOf(context, address, request.denom)) };
  };
  // The SDK checks the address first here, and the denomination first in Balance.
  const spendable: typeof one = (context, request) => {
    const address = readAddress(request.address, accounts);
    requireDenom(request.denom);
    return { balance: toWireCoin(spendableOf(context, accounts, address, request.denom)) };
  };
  const all = (
    context: Context,
    request: { readonly address: string; readonly pagination: PageRequest | undefined },
  ) => pageOfBalances(context, readAddress(request.address, accounts), request.pagination);
  return {
    Balance: one,
    SpendableBalanceByDenom: spendable,
    AllBalances: all,
    SpendableBalances: (context, request) => {
      const page = all(context, request);
      const available = allSpendable(context, accounts, readAddress(request.address, accounts));
      return {
        balances: page.balances.map(({ denom }) => toWireCoin({ denom, amount: amountOf(available, denom) })),
        pagination: page.pagination,
      };
    },
  } satisfies Queries;
}

/** Throws a plain error, just as Go panics, if a genesis account has fewer coins than it locks. */
function spendableOf(context: Context, accounts: BankAccounts, address: Uint8Array, denom: string): Coin {
  const { amount: balance } = balanceOf(context, address, denom);
  const amount = balance - amountOf(accounts.lockedCoins(context, address), denom);
  if (amount < 0n) throw new Error(`negative coin amount: ${amount}`);
  return { denom, amount };
}

/** As in the SDK, nothing is spendable while an account holds fewer coins than it locks. */
function allSpendable(context: Context, accounts: BankAccounts, address: Uint8Array): readonly Coin[] {
  const balances = [...balancesOf(context, address)];
  const locked = accounts.lockedCoins(context, address);
  if (locked.some(({ denom, amount }) => amount > amountOf(balances, denom))) return [];
  return balances.map(({ denom, amount }) => ({ denom, amount: amount - amountOf(locked, denom) }));
}

function pageOfBalances(
  context: Context,
  address: Uint8Array,
  request: PageRequest | undefined,
): { readonly balances: WireCoin[]; readonly pagination: PageResponse } {
  const balances: WireCoin[] = [];
  const prefix = concat(BALANCE_PREFIX, lengthPrefixed(address));
  const pagination = paginate({ store: context.store(MODULE_NAME), prefix }, request, (denom, amount) =>
    balances.push({ denom: textCodec.decode(denom), amount: textCodec.decode(amount) }),
  );
  return { balances, pagination };
}

const supplyQueries = {
  TotalSupply: (context, request) => {
    const supply: WireCoin[] = [];
    const paged = { store: context.store(MODULE_NAME), prefix: SUPPLY_PREFIX };
    const pagination = paginate(paged, request.pagination, (denom, amount) =>
      supply.push({ denom: textCodec.decode(denom), amount: textCodec.decode(amount) }),
    );
    return { supply, pagination };
  },
  SupplyOf: (context, { denom }) => {
    requireDenom(denom);
    return { amount: toWireCoin({ denom, amount: supplies.get(context, denom) ?? 0n }) };
  },
} satisfies Queries;

function metadataOf(
  context: Context,
  { denom }: { readonly denom: string },
): { readonly metadata: Metadata } {
  requireDenom(denom);
  const metadata = metadatas.get(context, denom);
  if (metadata === undefined) throw new QueryError(GrpcCode.NotFound, `client metadata for denom ${denom}`);
  return { metadata };
}

const metadataQueries = {
  DenomsMetadata: (context, request) => {
    const page: Metadata[] = [];
    const paged = { store: context.store(MODULE_NAME), prefix: METADATA_PREFIX };
    const pagination = paginate(paged, request.pagination, (_denom, value) =>
      page.push(Metadata.decode(value)),
    );
    return { metadatas: page, pagination };
  },
  DenomMetadata: metadataOf,
  DenomMetadataByQueryString: metadataOf,
} satisfies Queries;

function holderQueries(accounts: BankAccounts) {
  const owners = (
    context: Context,
    request: { readonly denom: string; readonly pagination: PageRequest | undefined },
  ): { readonly denomOwners: wire.DenomOwner[]; readonly pagination: PageResponse } => {
    const { denom } = request;
    requireDenom(denom);
    const denomOwners: wire.DenomOwner[] = [];
    const paged = { store: context.store(MODULE_NAME), prefix: concat(HOLDER_PREFIX, holdersOf(denom)) };
    const pagination = paginate(paged, request.pagination, (key) => {
      const address = key.subarray(1);
      const balance = toWireCoin(balanceOf(context, address, denom));
      denomOwners.push({ address: accounts.formatAddress(address), balance });
    });
    return { denomOwners, pagination };
  };
  return {
    DenomOwners: owners,
    DenomOwnersByQuery: owners,
  } satisfies Queries;
}

/** Returns the entries for the requested denominations without paging, or a page of all entries if the request names none. */
function sendEnabledPage(
  context: Context,
  request: wire.QuerySendEnabledRequest,
): wire.QuerySendEnabledResponse {
  if (request.denoms.length > 0) {
    const requested = request.denoms.flatMap((denom) => {
      const enabled = sendEnabled.get(context, denom);
      return enabled === undefined ? [] : [{ denom, enabled }];
    });
    return { sendEnabled: requested, pagination: undefined };
  }
  const entries: wire.QuerySendEnabledResponse["sendEnabled"] = [];
  const paged = { store: context.store(MODULE_NAME), prefix: SEND_ENABLED_PREFIX };
  const pagination = paginate(paged, request.pagination, (denom, value) =>
    entries.push({ denom: textCodec.decode(denom), enabled: value[0] === 1 }),
  );
  return { sendEnabled: entries, pagination };
}

function requireDenom(denom: string): void {
  if (!isDenom(denom)) throw new QueryError(GrpcCode.InvalidArgument, `invalid denom: ${denom}`);
}

function readAddress(text: string, accounts: BankAccounts): Uint8Array {
  try {
    return accounts.parseAddress(text);
  } catch (thrown) {
    throw new QueryError(
      GrpcCode.InvalidArgument,
      `invalid address: ${thrown instanceof Error ? thrown.message : text}`,
    );
  }
}

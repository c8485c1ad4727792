import { GrpcCode, QueryError } from "../../runtime/errors.ts";
import * as wire from "../../../../cosmos/proto/gen/cosmos/auth/v1beta1/query.ts";
import { moduleAddress } from "../../runtime/address.ts";
import type { Context } from "../../runtime/context.ts";
import { orQueryError, toQueryHandler } from "../../runtime/handlers.ts";
import type { QueryHandler } from "../../runtime/module.ts";
import { paginate } from "../../runtime/pagination.ts";
import type { Account } from "../../runtime/ante-step.ts";
import { Any } from "../../../../cosmos/proto/gen/google/protobuf/any.ts";
import { type AuthKeeper, toAny } from "./keeper.ts";
import { ACCOUNT_PREFIX, STORE_NAME } from "./keys.ts";

const SERVICE = "/cosmos.auth.v1beta1.Query";

/** Creates the handlers of `cosmos.auth.v1beta1.Query`. */
export function createQueries(keeper: AuthKeeper, bech32Prefix: string): readonly QueryHandler[] {
  return [
    ...accountQueries(keeper),
    ...moduleAccountQueries(keeper),
    ...addressQueries(keeper, bech32Prefix),
  ];
}

function accountQueries(keeper: AuthKeeper): readonly QueryHandler[] {
  return [
    toQueryHandler(
      `${SERVICE}/Accounts`,
      { request: wire.QueryAccountsRequest, response: wire.QueryAccountsResponse },
      (context, request) => {
        const accounts: Any[] = [];
        const pagination = paginate(
          { store: context.store(STORE_NAME), prefix: ACCOUNT_PREFIX },
          request.pagination,
          (_key, value) => accounts.push(Any.decode(value)),
        );
        return { accounts, pagination };
      },
    ),
    toQueryHandler(
      `${SERVICE}/Account`,
      { request: wire.QueryAccountRequest, response: wire.QueryAccountResponse },
      (context, { address }) => ({ account: toAny(requireAccount(context, keeper, address, "Address")) }),
    ),
    toQueryHandler(
      `${SERVICE}/AccountInfo`,
      { request: wire.QueryAccountInfoRequest, response: wire.QueryAccountInfoResponse },
      (context, { address }) => ({ info: requireAccount(context, keeper, address, "address").base }),
    ),
    toQueryHandler(
      `${SERVICE}/AccountAddressByID`,
      { request: wire.QueryAccountAddressByIDRequest, response: wire.QueryAccountAddressByIDResponse },
      (context, { accountId }) => {
        const address = keeper.addressByNumber(context, accountId);
        if (address === undefined)
          throw new QueryError(
            GrpcCode.NotFound,
            `account address not found with account number ${accountId}`,
          );
        return { accountAddress: keeper.formatAddress(address) };
      },
    ),
    toQueryHandler(
      `${SERVICE}/Params`,
      { request: wire.QueryParamsRequest, response: wire.QueryParamsResponse },
      (context) => ({ params: keeper.params(context) }),
    ),
  ];
}

/** Reads an account by bech32 address. The SDK spells the field name in its error differently in each query: `fieldName`. */
function requireAccount(context: Context, keeper: AuthKeeper, text: string, fieldName: string): Account {
  if (text === "") throw new QueryError(GrpcCode.InvalidArgument, `${fieldName} cannot be empty`);
  const address = orQueryError(() => keeper.parseAddress(text));
  const account = keeper.get(context, address);
  if (account === undefined) throw new QueryError(GrpcCode.NotFound, `account ${text} not found`);
  return account;
}

function moduleAccountQueries(keeper: AuthKeeper): readonly QueryHandler[] {
  return [
    toQueryHandler(
      `${SERVICE}/ModuleAccounts`,
      { request: wire.QueryModuleAccountsRequest, response: wire.QueryModuleAccountsResponse },
      (context) => ({
        accounts: keeper.moduleNames.map((name) => toAny(requireModuleAccount(context, keeper, name))),
      }),
    ),
    toQueryHandler(
      `${SERVICE}/ModuleAccountByName`,
      { request: wire.QueryModuleAccountByNameRequest, response: wire.QueryModuleAccountByNameResponse },
      (context, { name }) => {
        if (name === "") throw new QueryError(GrpcCode.InvalidArgument, "module name is empty");
        return { account: toAny(requireModuleAccount(context, keeper, name)) };
      },
    ),
  ];
}

function requireModuleAccount(context: Context, keeper: AuthKeeper, name: string): Account {
  const account = keeper.isModuleName(name) ? keeper.get(context, moduleAddress(name)) : undefined;
  if (account === undefined) throw new QueryError(GrpcCode.NotFound, `account ${name} not found`);
  return account;
}

function addressQueries(keeper: AuthKeeper, bech32Prefix: string): readonly QueryHandler[] {
  return [
    toQueryHandler(
      `${SERVICE}/Bech32Prefix`,
      { request: wire.Bech32PrefixRequest, response: wire.Bech32PrefixResponse },
      () => ({ bech32Prefix }),
    ),
    toQueryHandler(
      `${SERVICE}/AddressBytesToString`,
      { request: wire.AddressBytesToStringRequest, response: wire.AddressBytesToStringResponse },
      (_context, { addressBytes }) => {
        if (addressBytes.length === 0)
          throw new QueryError(GrpcCode.InvalidArgument, "empty address bytes is not allowed");
        return { addressString: orQueryError(() => keeper.formatAddress(addressBytes)) };
      },
    ),
    toQueryHandler(
      `${SERVICE}/AddressStringToBytes`,
      { request: wire.AddressStringToBytesRequest, response: wire.AddressStringToBytesResponse },
      (_context, { addressString }) => {
        if (addressString.trim() === "")
          throw new QueryError(GrpcCode.InvalidArgument, "empty address string is not allowed");
        return { addressBytes: orQueryError(() => keeper.parseAddress(addressString)) };
      },
    ),
  ];
}

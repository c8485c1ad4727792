import { concat } from "../../../../platform/base/bytes.ts";
import { LimitOrderTranche } from "../../../../cosmos/proto/gen/neutron/dex/limit_order_tranche.ts";
import { LimitOrderTrancheUser } from "../../../../cosmos/proto/gen/neutron/dex/limit_order_tranche_user.ts";
import * as wire from "../../../../cosmos/proto/gen/neutron/dex/query.ts";
import { TickLiquidity } from "../../../../cosmos/proto/gen/neutron/dex/tick_liquidity.ts";
import { parseAddress } from "../../runtime/address.ts";
import { orQueryError } from "../../runtime/handlers.ts";
import type { QueryHandler } from "../../runtime/module.ts";
import * as keys from "./keys.ts";
import { parsePairId, sideSelling } from "./pair-id.ts";
import { found, page, pageRecords, query, sidePrefix } from "./query-forms.ts";
import { toWireTranche, toWireTrancheUser } from "./records.ts";
import * as store from "./store.ts";
import { calcWithdrawable, findTranche } from "./tranche.ts";
import type { DexOptions, TrancheKey } from "./types.ts";

/** Queries of limit orders: tranches, and users' parts of them. */
export function createOrderQueries(options: DexOptions): readonly QueryHandler[] {
  return [...tranches(), ...trancheUsers(options)];
}

function tranches(): readonly QueryHandler[] {
  return [
    query(
      "LimitOrderTranche",
      wire.QueryGetLimitOrderTrancheRequest,
      wire.QueryGetLimitOrderTrancheResponse,
      (context, request) => {
        const { tranche } = found(findTranche(context, trancheKeyOf(request)));
        return { limitOrderTranche: toWireTranche(tranche) };
      },
    ),
    query(
      "LimitOrderTrancheAll",
      wire.QueryAllLimitOrderTrancheRequest,
      wire.QueryAllLimitOrderTrancheResponse,
      (context, request) => {
        const limitOrderTranche: LimitOrderTranche[] = [];
        const pagination = page(context, sidePrefix(request), request, (_key, value, onPage) => {
          const { record } = TickLiquidity.decode(value);
          if (record?.$case !== "limitOrderTranche") return false;
          if (onPage) limitOrderTranche.push(record.value);
          return true;
        });
        return { limitOrderTranche, pagination };
      },
    ),
    query(
      "InactiveLimitOrderTranche",
      wire.QueryGetInactiveLimitOrderTrancheRequest,
      wire.QueryGetInactiveLimitOrderTrancheResponse,
      (context, request) => {
        const tranche = found(store.getInactiveTranche(context, trancheKeyOf(request)));
        return { inactiveLimitOrderTranche: toWireTranche(tranche) };
      },
    ),
    query(
      "InactiveLimitOrderTrancheAll",
      wire.QueryAllInactiveLimitOrderTrancheRequest,
      wire.QueryAllInactiveLimitOrderTrancheResponse,
      (context, request) => {
        const prefix = keys.INACTIVE_TRANCHE_PREFIX;
        const { records, pagination } = pageRecords(context, prefix, request, LimitOrderTranche);
        return { inactiveLimitOrderTranche: records, pagination };
      },
    ),
  ];
}

function trancheUsers({ bech32Prefix }: DexOptions): readonly QueryHandler[] {
  return [
    query(
      "LimitOrderTrancheUser",
      wire.QueryGetLimitOrderTrancheUserRequest,
      wire.QueryGetLimitOrderTrancheUserResponse,
      (context, { address, trancheKey, calcWithdrawableShares }) => {
        const user = found(store.getTrancheUser(context, address, trancheKey));
        const limitOrderTrancheUser = toWireTrancheUser(user);
        if (!calcWithdrawableShares) return { limitOrderTrancheUser, withdrawableShares: "" };
        const { tranche } = found(findTranche(context, user), "Tranche not found");
        const { shares } = calcWithdrawable(tranche, user);
        return { limitOrderTrancheUser, withdrawableShares: shares.toString() };
      },
    ),
    query(
      "LimitOrderTrancheUserAll",
      wire.QueryAllLimitOrderTrancheUserRequest,
      wire.QueryAllLimitOrderTrancheUserResponse,
      (context, request) => {
        const prefix = keys.TRANCHE_USER_PREFIX;
        const { records, pagination } = pageRecords(context, prefix, request, LimitOrderTrancheUser);
        return { limitOrderTrancheUser: records, pagination };
      },
    ),
    query(
      "LimitOrderTrancheUserAllByAddress",
      wire.QueryAllLimitOrderTrancheUserByAddressRequest,
      wire.QueryAllLimitOrderTrancheUserByAddressResponse,
      (context, request) => {
        orQueryError(() => parseAddress(bech32Prefix, request.address));
        const prefix = concat(keys.TRANCHE_USER_PREFIX, keys.trancheUserPrefix(request.address));
        const { records, pagination } = pageRecords(context, prefix, request, LimitOrderTrancheUser);
        return { limitOrders: records, pagination };
      },
    ),
  ];
}

function trancheKeyOf(request: wire.QueryGetLimitOrderTrancheRequest): TrancheKey {
  const { pairId, tokenIn, tickIndex, trancheKey } = request;
  return { tradePairId: sideSelling(parsePairId(pairId), tokenIn), tick: tickIndex, trancheKey };
}

import { ErrLogic, GrpcCode, QueryError } from "../../runtime/errors.ts";
import * as wire from "../../../../cosmos/proto/gen/cosmos/slashing/v1beta1/query.ts";
import { orQueryError, toQueryHandler } from "../../runtime/handlers.ts";
import { AddressError, parseAddress } from "../../runtime/address.ts";
import type { QueryHandler } from "../../runtime/module.ts";
import { paginate } from "../../runtime/pagination.ts";
import { MODULE_NAME, SIGNING_INFOS } from "./keys.ts";
import { paramsOf } from "./params.ts";
import { infoCodec, infoToWire, signingInfos } from "./keeper.ts";
import type { Keepers } from "./types.ts";

const SERVICE = "/cosmos.slashing.v1beta1.Query";

/** The queries of the module. */
export function createQueryHandlers({ bech32Prefix }: Keepers): readonly QueryHandler[] {
  const prefix = `${bech32Prefix}valcons`;
  return [
    toQueryHandler(
      `${SERVICE}/Params`,
      { request: wire.QueryParamsRequest, response: wire.QueryParamsResponse },
      (context) => ({ params: paramsOf(context) }),
    ),
    toQueryHandler(
      `${SERVICE}/SigningInfo`,
      { request: wire.QuerySigningInfoRequest, response: wire.QuerySigningInfoResponse },
      (context, { consAddress }) => {
        if (consAddress === "") throw new QueryError(GrpcCode.InvalidArgument, "invalid request");
        const info = signingInfos.get(context, consensusOf(prefix, consAddress));
        if (info === undefined)
          throw new QueryError(GrpcCode.NotFound, `SigningInfo not found for validator ${consAddress}`);
        return { valSigningInfo: infoToWire(info) };
      },
    ),
    toQueryHandler(
      `${SERVICE}/SigningInfos`,
      { request: wire.QuerySigningInfosRequest, response: wire.QuerySigningInfosResponse },
      (context, request) => {
        const info: wire.QuerySigningInfosResponse["info"] = [];
        const paged = { store: context.store(MODULE_NAME), prefix: SIGNING_INFOS };
        const pagination = paginate(paged, request.pagination, (_key, value) =>
          info.push(infoToWire(infoCodec.decode(value))),
        );
        return { info, pagination };
      },
    ),
  ];
}

function consensusOf(prefix: string, text: string): Uint8Array {
  try {
    return parseAddress(prefix, text);
  } catch (error) {
    if (!(error instanceof AddressError) || error.facts.code !== "wrong-prefix")
      return orQueryError(() => {
        throw error;
      });
    throw ErrLogic(`hrp does not match bech32 prefix: expected '${prefix}' got '${error.facts.got}'`);
  }
}

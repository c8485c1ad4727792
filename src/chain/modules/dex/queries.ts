import { QueryParamsRequest, QueryParamsResponse } from "../../../proto/gen/neutron/dex/query.ts";

export const DEX_QUERIES = { params: [QueryParamsRequest, QueryParamsResponse] } as const;

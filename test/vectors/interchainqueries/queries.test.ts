import { describe, expect, it } from "vitest";
import { uint64BigEndian } from "../../../src/platform/base/bytes.ts";
import { setQuery } from "../../../src/localnet/chain/modules/interchainqueries/keeper.ts";
import { ModuleError, QueryError } from "../../../src/localnet/chain/runtime/errors.ts";
import type { PageRequest } from "../../../src/cosmos/proto/gen/cosmos/base/query/v1beta1/pagination.ts";
import type { RegisteredQuery } from "../../../src/cosmos/proto/gen/neutron/interchainqueries/genesis.ts";
import * as wire from "../../../src/cosmos/proto/gen/neutron/interchainqueries/query.ts";
import { messageToJson } from "../../../src/cosmos/proto/json.ts";
import { createFakeIbc } from "../../support/fake-ibc.ts";
import { addContract, createIcqChain, type IcqChain } from "../../support/icq-chain.ts";
import { register } from "../../support/icq-messages.ts";

const PATH = "/neutron.interchainqueries.Query";
const QUERY: RegisteredQuery = {
  id: 0n,
  owner: "",
  queryType: "tx",
  keys: [],
  transactionsFilter: "[]",
  connectionId: "",
  updatePeriod: 1n,
  lastSubmittedResultLocalHeight: 0n,
  lastSubmittedResultRemoteHeight: undefined,
  deposit: [],
  submitTimeout: 1n,
  registeredAtHeight: 1n,
};

type Rows = readonly (readonly [owner: string, connection: string])[];
const FOUR: Rows = [
  ["o1", "c0"],
  ["o2", "c0"],
  ["o2", "c1"],
  ["o2", "c2"],
];
const FIVE: Rows = [
  ["o1", "c0"],
  ["o2", "c0"],
  ["o1", "c1"],
  ["o2", "c2"],
  ["o1", "c1"],
];
const FIVE_B: Rows = [
  ["o1", "c1"],
  ["o2", "c0"],
  ["o1", "c1"],
  ["o2", "c2"],
  ["o1", "c1"],
];
const FIVE_C: Rows = [
  ["o1", "c1"],
  ["o2", "c0"],
  ["o2", "c1"],
  ["o2", "c1"],
  ["o1", "c1"],
];

interface Request {
  readonly owners?: string[];
  readonly connectionId?: string;
  readonly page?: Partial<PageRequest>;
}

const CASES: readonly (readonly [name: string, rows: Rows, request: Request, ids: readonly bigint[]])[] = [
  ["all", FOUR.slice(0, 3), {}, [1n, 2n, 3n]],
  ["offset 1 limit 2", FOUR, { page: { offset: 1n, limit: 2n } }, [2n, 3n]],
  ["key 2 limit 2", FOUR, { page: { key: uint64BigEndian(2n), limit: 2n } }, [2n, 3n]],
  ["one owner", FIVE, { owners: ["o1"] }, [1n, 3n, 5n]],
  ["one owner, offset 2", FIVE, { owners: ["o1"], page: { offset: 2n } }, [5n]],
  ["connection, offset 2", FIVE_B, { connectionId: "c1", page: { offset: 2n } }, [5n]],
  [
    "connection and owner, offset 1",
    FIVE_C,
    { connectionId: "c1", owners: ["o2"], page: { offset: 1n } },
    [4n],
  ],
  ["reverse", FOUR, { page: { reverse: true, limit: 2n } }, [4n, 3n]],
  ["two owners", FIVE, { owners: ["o2", "o1"] }, [1n, 2n, 3n, 4n, 5n]],
  ["an owner without queries", FIVE, { owners: [""] }, []],
];

describe("RegisteredQueries", () => {
  it.each(CASES)("%s", (_name, rows, request, ids) => {
    expect(list(chainOf(rows), request).registeredQueries.map(({ id }) => id)).toEqual(ids);
  });

  it("counts all entries without a limit, and returns the key of the next match", () => {
    const chain = chainOf(FIVE);
    expect(list(chain, {}).pagination?.total).toBe(5n);
    const page = list(chain, { owners: ["o1"], page: { limit: 1n, countTotal: true } }).pagination;
    expect(page).toEqual({ nextKey: uint64BigEndian(3n), total: 3n });
  });

  it("rejects key and offset together", () => {
    const send = (): unknown => list(chainOf(FIVE), { page: { key: uint64BigEndian(1n), offset: 1n } });
    expect(send).toThrow(
      new QueryError(13, "paginate: invalid request, either offset or key is expected, got both"),
    );
  });
});

describe("the other queries", () => {
  it("respond as on the deployed chain", () => {
    const chain = createIcqChain({ ibc: createFakeIbc() });
    const owner = addContract(chain, "echo");
    chain.deliver([
      register({ sender: owner, keys: [{ path: "bank", key: new Uint8Array([1]) }], updatePeriod: 5n }),
    ]);
    const response = chain.query(
      `${PATH}/RegisteredQuery`,
      wire.QueryRegisteredQueryRequest.encode({ queryId: 1n }).finish(),
    );
    expect(messageToJson("neutron.interchainqueries.QueryRegisteredQueryResponse", response)).toEqual({
      registered_query: {
        id: "1",
        owner,
        query_type: "kv",
        keys: [{ path: "bank", key: "AQ==" }],
        transactions_filter: "",
        connection_id: "connection-0",
        update_period: "5",
        last_submitted_result_local_height: "0",
        last_submitted_result_remote_height: null,
        deposit: [{ denom: "untrn", amount: "1000000" }],
        submit_timeout: "1036800",
        registered_at_height: "10",
      },
    });
    const params = chain.query(`${PATH}/Params`, new Uint8Array(0));
    expect(messageToJson("neutron.interchainqueries.QueryParamsResponse", params)).toEqual({
      params: {
        query_submit_timeout: "1036800",
        query_deposit: [{ denom: "untrn", amount: "1000000" }],
        tx_query_removal_limit: "10000",
        max_kv_query_keys_count: "32",
        max_transactions_filters: "32",
      },
    });
  });

  it.each([
    [
      "RegisteredQuery",
      wire.QueryRegisteredQueryRequest.encode({ queryId: 42n }).finish(),
      1100,
      "failed to get registered query by query id: there is no query with id: 42: invalid query id",
    ],
    [
      "RegisteredQuery",
      new Uint8Array(0),
      1100,
      "failed to get registered query by query id: there is no query with id: 0: invalid query id",
    ],
    [
      "QueryResult",
      wire.QueryRegisteredQueryResultRequest.encode({ queryId: 42n }).finish(),
      1100,
      "query with id 42 doesn't exist: invalid query id",
    ],
    [
      "QueryResult",
      wire.QueryRegisteredQueryResultRequest.encode({ queryId: 1n }).finish(),
      1115,
      "failed to get query result by query id: no query result",
    ],
    [
      "LastRemoteHeight",
      wire.QueryLastRemoteHeight.encode({ connectionId: "connection-99" }).finish(),
      1104,
      "connection not found: invalid connection id",
    ],
    [
      "LastRemoteHeight",
      wire.QueryLastRemoteHeight.encode({ connectionId: "test" }).finish(),
      1104,
      "connection not found: invalid connection id",
    ],
  ])("%s fails for %s with %i", (rpc, request, code, text) => {
    const chain = chainOf(FOUR);
    expect(() => chain.query(`${PATH}/${rpc}`, request)).toThrow(
      expect.objectContaining({ code, codespace: "interchainqueries", message: text }),
    );
  });

  it("LastRemoteHeight returns the client's height and revision 0, or 1109 without a client state", () => {
    const ibc = createFakeIbc();
    const chain = createIcqChain({ ibc });
    const send = (): Uint8Array =>
      chain.query(
        `${PATH}/LastRemoteHeight`,
        wire.QueryLastRemoteHeight.encode({ connectionId: "connection-0" }).finish(),
      );
    expect(wire.QueryLastRemoteHeightResponse.decode(send())).toEqual({ height: 1000n, revision: 0n });
    ibc.latestHeight = undefined;
    expect(send).toThrow(ModuleError);
  });
});

function chainOf(rows: Rows): IcqChain {
  const chain = createIcqChain({ ibc: createFakeIbc() });
  for (const [index, [owner, connectionId]] of rows.entries())
    setQuery(chain.world.context(), { ...QUERY, id: BigInt(index + 1), owner, connectionId });
  return chain;
}

function list(
  chain: IcqChain,
  { owners = [], connectionId = "", page }: Request,
): wire.QueryRegisteredQueriesResponse {
  const empty = { key: new Uint8Array(0), offset: 0n, limit: 0n, countTotal: false, reverse: false };
  const request = { owners, connectionId, pagination: page && { ...empty, ...page } };
  return wire.QueryRegisteredQueriesResponse.decode(
    chain.query(`${PATH}/RegisteredQueries`, wire.QueryRegisteredQueriesRequest.encode(request).finish()),
  );
}

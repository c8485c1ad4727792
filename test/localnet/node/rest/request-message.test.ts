import { describe, expect, it } from "vitest";
import { fromBase64, utf8 } from "../../../../src/platform/base/bytes.ts";
import type { JsonValue } from "../../../../src/platform/base/json.ts";
import { messageToJson } from "../../../../src/cosmos/proto/json.ts";
import { httpRules } from "../../../../src/cosmos/proto/http-rules.ts";
import { buildRequest, parseForm } from "../../../../src/localnet/node/rest/request-message.ts";
import { createRouteTable } from "../../../../src/localnet/node/rest/route-table.ts";

const ALL_PATHS = httpRules().map(({ service, rpc }) => `/${service}/${rpc}`);
const table = createRouteTable(ALL_PATHS, "neutron");

function request(method: "GET" | "POST", target: string, body = ""): JsonValue {
  const [path = "", query = ""] = target.split("?");
  const found = table.find(method, path.slice(1).split("/"));
  if (found === undefined) throw new Error("no route");
  const source = { form: () => parseForm(query), body: utf8(body), chainName: "neutron" };
  return messageToJson(found.route.requestType, buildRequest(found, source));
}

const QUERIES = "/neutron/interchainqueries/registered_queries";
const DEX = "/neutron/dex";
const PAGE = { key: null, offset: "0", limit: "0", count_total: false, reverse: false };

describe("requests from path and query", () => {
  it.each([
    [`${QUERIES}?`, { owners: [], connection_id: "", pagination: null }],
    [`${QUERIES}?owners=a&owners=b,c`, { owners: ["a", "b,c"], connection_id: "", pagination: null }],
    [`${QUERIES}?owners=`, { owners: [""], connection_id: "", pagination: null }],
    [`${QUERIES}?owners[]=a`, { owners: ["", "a"], connection_id: "", pagination: null }],
    [
      `${QUERIES}?connectionId=c-1&nosuch=1&pagination.nosuch=2`,
      { owners: [], connection_id: "c-1", pagination: PAGE },
    ],
    [
      `${QUERIES}?connection_id=first&connection_id=second`,
      { owners: [], connection_id: "first", pagination: null },
    ],
    [
      `${QUERIES}?pagination.key=AAAAAAAAAAI%3D&pagination.limit=0x10&pagination.offset=010&pagination.countTotal=T&pagination.reverse=1`,
      {
        owners: [],
        connection_id: "",
        pagination: { key: "AAAAAAAAAAI=", offset: "8", limit: "16", count_total: true, reverse: true },
      },
    ],
    ["/cosmos/tx/v1beta1/txs/block/0x10", { height: "16", pagination: null }],
    ["/cosmos/tx/v1beta1/txs/block/7?height=9", { height: "7", pagination: null }],
    ["/cosmos/bank/v1beta1/denom_owners/ibc/AB", { denom: "ibc/AB", pagination: null }],
    ["/neutron/harpoon/subscribed_contracts?hook_type=4", { hook_type: "HOOK_TYPE_AFTER_VALIDATOR_BONDED" }],
    [
      "/ibc/core/channel/v1/channels/channel-0/ports/p/packet_commitments/1,2/unreceived_acks",
      { port_id: "p", channel_id: "channel-0", packet_ack_sequences: ["1", "2"] },
    ],
  ])("%s", (target, json) => expect(request("GET", target)).toEqual(json));

  it.each([
    [
      `${DEX}/simulate_withdraw_filled_limit_order?msg=%7B%22creator%22%3A%22a%22%2C%22tranche_key%22%3A%22tk%7C%7C0%22%7D`,
      { msg: { creator: "a", tranche_key: "tk||0" } },
    ],
    [`${DEX}/simulate_cancel_limit_order?msg.creator=a`, { msg: { creator: "a", tranche_key: "" } }],
    [`${DEX}/simulate_cancel_limit_order?msg=`, { msg: { creator: "", tranche_key: "" } }],
    [
      `${DEX}/estimate_multi_hop_swap?routes=%7B%22hops%22:[%22a%22,%22b%22]%7D&amount_in=5&exit_limit_price=0.5`,
      {
        creator: "",
        receiver: "",
        routes: [{ hops: ["a", "b"] }],
        amount_in: "5",
        exit_limit_price: "0.500000000000000000000000000",
        pick_best_route: false,
      },
    ],
    [
      `${DEX}/estimate_place_limit_order?amount_in=7&order_type=4&expiration_time=2030-01-01T00:00:00Z`,
      {
        creator: "",
        receiver: "",
        token_in: "",
        token_out: "",
        tick_index_in_to_out: "0",
        amount_in: "7",
        order_type: "GOOD_TIL_TIME",
        expiration_time: "2030-01-01T00:00:00Z",
        maxAmount_out: null,
      },
    ],
    [
      `${DEX}/limit_order_tranche/a<>b/a/-7/tk||1`,
      { pair_id: "a<>b", tick_index: "-7", token_in: "a", tranche_key: "tk||1" },
    ],
  ])("%s", (target, json) => expect(request("GET", target)).toEqual(json));

  it("take bytes in either alphabet", () => {
    const path = "/cosmwasm/wasm/v1/contract/a/smart/";
    // ">>?" has both letters in which the alphabets differ.
    for (const text of ["Ij4-PyI=", "Ij4+PyI="]) {
      const found = table.find("GET", `${path}${text}`.slice(1).split("/"));
      if (found === undefined) throw new Error("no route");
      const bytes = buildRequest(found, { form: () => new Map(), body: utf8(""), chainName: "neutron" });
      expect(Buffer.from(bytes).includes(Buffer.from(fromBase64("Ij4+PyI=")))).toBe(true);
    }
  });

  it.each([
    [`${QUERIES}?pagination.limit=-1`, 'strconv.ParseUint: parsing "-1": invalid syntax'],
    [`${QUERIES}?pagination.limit=18446744073709551616`, "value out of range"],
    [`${QUERIES}?pagination.reverse=yes`, 'strconv.ParseBool: parsing "yes": invalid syntax'],
    [`${QUERIES}?pagination.key=A`, "illegal base64 data at input byte 0"],
    [`${QUERIES}?pagination=1`, "field type *reflect.rtype is not supported in query parameters"],
    [`${DEX}/simulate_cancel_limit_order?msg={`, "unexpected EOF"],
    [`${DEX}/simulate_cancel_limit_order?msg=[]`, "json: cannot unmarshal array"],
    [`${DEX}/simulate_cancel_limit_order?msg={"x":1}`, 'unknown field "x" in types.MsgCancelLimitOrder'],
    [`${DEX}/simulate_multi_hop_swap?msg={"amount_in":"1.5"}`, 'not an integer: "1.5"'],
    [`${DEX}/estimate_multi_hop_swap?exit_limit_price=1e5`, "failed to set decimal string with base 10"],
    [`${DEX}/pool/a<>b/1.5/1`, "type mismatch, parameter: tick_index"],
    [`${QUERIES}?connection_id.x=1`, "unexpected nested field x in connection_id"],
    [`${QUERIES}?owners.x=1`, "unexpected repeated field in owners.x"],
    [
      "/cosmos/tx/v1beta1/txs/block/abc",
      'type mismatch, parameter: height, error: strconv.ParseInt: parsing "abc"',
    ],
    [
      "/neutron/harpoon/subscribed_contracts?hook_type=HOOK",
      'strconv.ParseInt: parsing "HOOK": invalid syntax',
    ],
    [
      "/neutron/harpoon/subscribed_contracts?hook_type=HOOK_TYPE_AFTER_VALIDATOR_BONDED",
      'strconv.ParseInt: parsing "HOOK_TYPE_AFTER_VALIDATOR_BONDED": invalid syntax',
    ],
  ])("%s is refused", (target, message) => expect(() => request("GET", target)).toThrow(message));

  it.each(["ORDER_BY_DESC", "2", "%2B2", "4294967298"])("take an enum of the SDK: %s", (order) =>
    expect(request("GET", `/cosmos/tx/v1beta1/txs?order_by=${order}`)).toMatchObject({
      order_by: "ORDER_BY_DESC",
    }),
  );

  it.each(["desc", "", "3", "0x2", "-1"])("refuse another value of an enum: %j", (order) =>
    expect(() => request("GET", `/cosmos/tx/v1beta1/txs?order_by=${order}`)).toThrow(
      `${order} is not a valid tx.OrderBy`,
    ),
  );

  it("ignore the query when the route has no field for it", () => {
    expect(request("GET", "/cosmos/bank/v1beta1/params?x=%zz")).toEqual({});
  });
});

describe("requests from a body", () => {
  const PATH = "/cosmos/tx/v1beta1/txs";

  it.each(["", " \n", "null", "{}"])("%j is empty", (body) =>
    expect(request("POST", PATH, body)).toEqual({ tx_bytes: null, mode: "BROADCAST_MODE_UNSPECIFIED" }),
  );

  it.each(["BROADCAST_MODE_SYNC", 2])("take an enum by name and number: %s", (mode) =>
    expect(request("POST", PATH, JSON.stringify({ txBytes: "AAAA", mode }))).toEqual({
      tx_bytes: "AAAA",
      mode: "BROADCAST_MODE_SYNC",
    }),
  );

  it.each([
    ["{", "unexpected EOF"],
    ["nope", "invalid character 'o' in literal null (expecting 'u')"],
    ["[]", "json: cannot unmarshal array into Go value of type map[string]json.RawMessage"],
    ['{"mode":"NOPE"}', 'unknown value "NOPE" for enum cosmos.tx.v1beta1.BroadcastMode'],
    ['{"tx_bytes":"!"}', "illegal base64 data at input byte 0"],
    ['{"x":1}', 'unknown field "x" in tx.BroadcastTxRequest'],
    ['{"tx_bytes":{}}', "tx_bytes: expected a string"],
  ])("%s is refused", (body, message) => expect(() => request("POST", PATH, body)).toThrow(message));
});

import { beforeEach, describe, expect, it } from "vitest";
import * as query from "../../../../src/cosmos/proto/gen/cosmwasm/wasm/v1/query.ts";
import * as wire from "../../../../src/cosmos/proto/gen/cosmwasm/wasm/v1/tx.ts";
import { QueryParamsResponse } from "../../../../src/cosmos/proto/gen/neutron/interchainqueries/query.ts";
import { TYPE_URL } from "../../../../src/cosmos/proto/registry.ts";
import { defaultParams } from "../../../../src/localnet/chain/modules/interchainqueries/keeper.ts";
import { classicContractAddress } from "../../../../src/localnet/chain/modules/wasm/keeper.ts";
import {
  type ContractCode,
  NO_RESPONSE,
  subMessage,
} from "../../../../src/localnet/chain/modules/wasm/contract.ts";
import { wasmAny } from "../../../../src/localnet/chain/modules/wasm/contract-message.ts";
import { gasBurner } from "../../../../src/localnet/chain/contracts/gas-burner.ts";
import { profileNamed } from "../../../../src/localnet/chain/deviations/profile-named.ts";
import type { ProfileName } from "../../../../src/localnet/chain/deviations/deviations.ts";
import { formatAddress } from "../../../../src/localnet/chain/runtime/address.ts";
import { ErrUnauthorized } from "../../../../src/localnet/chain/runtime/errors.ts";
import { createGasMeter } from "../../../../src/localnet/chain/runtime/gas.ts";
import {
  fromBase64,
  fromUtf8,
  toBase64,
  uint64BigEndian,
  utf8,
} from "../../../../src/platform/base/bytes.ts";
import { isRecord, type JsonValue } from "../../../../src/platform/base/json.ts";
import { createFakeIbc } from "../../../support/fake-ibc.ts";
import {
  addContract,
  ALICE,
  AUTHORITY,
  BOB,
  createIcqChain,
  type IcqChain,
  type Outcome,
  type PackedMessage,
} from "../../../support/icq-chain.ts";
import { register } from "../../../support/icq-messages.ts";

let chain: IcqChain;
let echo: string;
let consumer: string;

beforeEach(() => {
  chain = createIcqChain({ ibc: createFakeIbc() });
  echo = addContract(chain, "echo");
  consumer = addContract(chain, "icq-consumer");
});

describe("contract addresses", () => {
  it.each([
    [1n, 1n, "neutron14hj2tavq8fpesdwxxcu44rty3hh90vhujrvcmstl4zr3txmfvw9s5c2epq"],
    [4n, 2n, "neutron1wkwy0xh89ksdgj9hr347dyd2dw7zesmtrue6kfzyml4vdtz6e5wsaldc5h"],
    [5n, 3n, "neutron1ufs3tlq4umljk0qfe8k5ya0x6hpavn897u2cnf9k0en9jr7qarqq2mt63x"],
    [6n, 4n, "neutron1466nf3zuxpya8q9emxukd7vftaf6h4psr0a07srl5zw74zh84yjqzyx7qr"],
  ])("equal the recorded address of code %i, instance %i", (codeId, instance, address) => {
    expect(formatAddress("neutron", classicContractAddress(codeId, instance))).toBe(address);
  });
});

describe("MsgExecuteContract", () => {
  it("emits execute, the contract's attributes, its events, then those of its messages", () => {
    const outcome = respond(echo, {
      messages: [any(register({ sender: echo }))],
      attributes: [{ key: " a ", value: "1" }],
      events: [{ type: "thing", attributes: [{ key: "b", value: "2" }] }],
      data: toBase64(utf8("done")),
    });
    expect(outcome.code).toBe(0);
    expect(outcome.events.map(({ type }) => type)).toEqual(["execute", "wasm", "wasm-thing", "neutron"]);
    expect(outcome.events[1]?.attributes.map(({ key, value }) => `${key}=${value}`)).toEqual([
      `_contract_address=${echo}`,
      "a=1",
    ]);
    const response = wire.MsgExecuteContractResponse.decode(
      outcome.responses[0]?.response ?? new Uint8Array(0),
    );
    expect(response.data).toEqual(utf8("done"));
  });

  it("rejects a message of a contract with another signer", () => {
    const outcome = respond(echo, { messages: [any(register({ sender: consumer }))] });
    expect([outcome.codespace, outcome.code]).toEqual(["sdk", 4]);
    expect(outcome.log).toContain("dispatch: submessages: contract doesn't have permission: unauthorized");
  });

  it.each([
    [{ error: "no" }, "wasm", 5, "no: execute wasm contract failed"],
    [{ ok: 1 }, "wasm", 5, "ok: not an object"],
    [{ ok: { messages: [{}] } }, "wasm", 5, "messages[0].reply_on: not present"],
    [{ ok: { messages: [], attributes: [{ key: "_x", value: "" }] } }, "wasm", 21, "reserved prefix"],
    [{ ok: { messages: [], attributes: [{ key: " ", value: "" }] } }, "wasm", 21, "Empty attribute key"],
    [{ ok: { messages: [], events: [{ type: "e", attributes: [] }] } }, "wasm", 21, "Event type too short"],
    [
      { ok: { messages: [sub({ stargate: { type_url: "/no.such.Msg", value: "" } })] } },
      "wasm",
      10,
      "Cannot unpack proto message with type URL: /no.such.Msg",
    ],
    [
      { ok: { messages: [sub({ custom: { no_such: {} } })] } },
      "wasm",
      20,
      "unknown message from the contract",
    ],
    [
      { ok: { messages: [sub({ staking: { delegate: {} } })] } },
      "wasm",
      5,
      "not implemented: messages of kind staking.delegate",
    ],
  ])("rejects the response %j", (response, codespace, code, text) => {
    const outcome = execute(echo, response);
    expect([outcome.codespace, outcome.code]).toEqual([codespace, code]);
    expect(outcome.log).toContain(text);
  });

  it.each([
    [{ contract: BOB }, "wasm", 22, "no such contract"],
    [{ contract: "x" }, "wasm", 14, "contract: "],
    [{ sender: "" }, "wasm", 14, "sender: empty address"],
    [{ msg: utf8("{") }, "wasm", 14, "payload msg: invalid"],
    [{ funds: [{ denom: "untrn", amount: "0" }] }, "sdk", 10, "sentFunds: invalid coins"],
    [{ funds: [{ denom: "untrn", amount: "999999999999" }] }, "sdk", 5, "insufficient funds"],
  ])("rejects a message with %j", (change, codespace, code, text) => {
    const message = { sender: ALICE, contract: echo, msg: utf8("{}"), funds: [], ...change };
    const value = wire.MsgExecuteContract.encode(message).finish();
    const outcome = chain.deliver([{ typeUrl: TYPE_URL.executeContract, value }]);
    expect([outcome.codespace, outcome.code]).toEqual([codespace, code]);
    expect(outcome.log).toContain(text);
  });

  it("moves the funds of the call and of a sub-message", () => {
    chain.bank.fund(ALICE, 500n);
    const inner = { ok: { messages: [], attributes: [], events: [], data: null } };
    const msg = sub({
      wasm: {
        execute: {
          contract_addr: consumer,
          msg: toBase64(utf8('{"set_failure":{"kv":true}}')),
          funds: [{ denom: "untrn", amount: "7" }],
        },
      },
    });
    const before = chain.bank.balance(consumer);
    const outcome = execute(echo, { ok: { ...inner.ok, messages: [msg] } }, [
      { denom: "untrn", amount: "500" },
    ]);
    expect(outcome.code).toBe(0);
    expect(chain.bank.balance(ALICE)).toBe(0n);
    expect(chain.bank.balance(consumer) - before).toBe(7n);
  });

  it("limits the depth of calls and of smart queries", () => {
    const loop: ContractCode = {
      name: "loop",
      instantiate: () => NO_RESPONSE,
      execute: ({ address }) => ({
        ...NO_RESPONSE,
        messages: [
          subMessage(
            wasmAny("MsgExecuteContract", wire.MsgExecuteContract, {
              sender: address,
              contract: address,
              msg: utf8("{}"),
              funds: [],
            }),
          ),
        ],
      }),
      query: ({ address, query: request }) =>
        request({ wasm: { smart: { contract_addr: address, msg: "e30=" } } }),
    };
    const { address, chain: looping } = withCode(loop);
    const value = wire.MsgExecuteContract.encode({
      sender: ALICE,
      contract: address,
      msg: utf8("{}"),
      funds: [],
    }).finish();
    for (const _ of [1, 2])
      expect(looping.deliver([{ typeUrl: TYPE_URL.executeContract, value }])).toMatchObject({
        codespace: "wasm",
        code: 30,
      });
    expect(() => looping.wasm.host.query(looping.world.context(), address, utf8("{}"))).toThrow(
      expect.objectContaining({ codespace: "wasm", code: 27 }),
    );
  });

  it("rejects a message that nests too deep", () => {
    const value = wire.MsgExecuteContract.encode({
      sender: ALICE,
      contract: echo,
      msg: utf8(`${"[".repeat(200)}${"]".repeat(200)}`),
      funds: [],
    }).finish();
    const outcome = chain.deliver([{ typeUrl: TYPE_URL.executeContract, value }]);
    expect([outcome.codespace, outcome.code]).toEqual(["wasm", 5]);
    expect(outcome.log).toContain("recursion limit exceeded");
  });

  it("passes integers beyond 2^53 as numbers with all digits", () => {
    chain.wasm.host.sudo(
      chain.world.context(),
      echo,
      '{"a":[18446744073709551615,1,-9007199254740993],"b":1.5}',
    );
    const attributes = chain.world.events.flatMap((event) => event.attributes);
    expect(attributes.find(({ key }) => key === "sudo")?.value).toBe(
      '{"a":[18446744073709551615,1,-9007199254740993],"b":1.5}',
    );
    const asked = utf8('{"a":[18446744073709551615,null,"\\u0007"],"b":true}');
    expect(fromUtf8(chain.wasm.host.query(chain.world.context(), echo, asked))).toBe(fromUtf8(asked));
  });

  it("charges for the call and for each byte of the message", () => {
    const short = respond(echo, {}).gasUsed;
    const long = respond(echo, { ignored: "x".repeat(1000) }).gasUsed;
    expect(short).toBeGreaterThan(60_000n);
    expect(long - short).toBeGreaterThanOrEqual(5_000n);
  });
});

it("the gas burner uses the gas that it is asked for", () => {
  const { chain: own, address } = withCode(gasBurner);
  const gasOf = (message: string): bigint => {
    const gas = createGasMeter(10_000_000n);
    const context = own.world.context().withGas(gas);
    own.wasm.host.execute(context, address, { sender: ALICE, funds: [] }, utf8(message));
    return gas.used();
  };
  expect(gasOf('{"burn":{"gas":"1000"}}') - gasOf('{"burn":{"gas":"1"}}')).toBe(999n + 3n * 5n);
  expect(() => gasOf('{"x":{}}')).toThrow("unknown variant `x`, expected `burn`");
});

describe("sub-messages", () => {
  const failing = { stargate: { type_url: "/no.such.Msg", value: "" } };

  it("are reverted and cause a reply when they fail and the contract wants errors", () => {
    const outcome = respond(echo, { messages: [sub(failing, "error"), any(register({ sender: echo }))] });
    expect(outcome.code).toBe(0);
    expect(outcome.events.map(({ type }) => type)).toEqual(["execute", "reply", "neutron"]);
  });

  it("fail the call with the error of a reply behind its prefix", () => {
    const burn = { kind: "any", typeUrl: "/no.such.Msg", value: new Uint8Array() } as const;
    const { chain: own, address } = withCode({
      name: "fails in its reply",
      instantiate: () => NO_RESPONSE,
      execute: () => ({ ...NO_RESPONSE, messages: [{ ...subMessage(burn), replyOn: "error" }] }),
      reply: () => {
        throw ErrUnauthorized("not now");
      },
    });
    const call = (): unknown =>
      own.wasm.host.execute(own.world.context(), address, { sender: ALICE, funds: [] }, utf8("{}"));
    expect(call).toThrow("dispatch: submessages: reply: not now: unauthorized");
  });

  it("cause a reply when they succeed and the contract wants successes", () => {
    const message = { ...any(register({ sender: echo })), reply_on: "success" };
    expect(respond(echo, { messages: [message] }).events.map(({ type }) => type)).toEqual([
      "execute",
      "neutron",
      "reply",
    ]);
  });

  it("fail the call and leave no writes when they fail without a reply", () => {
    const before = chain.world.dump("interchainqueries");
    expect(respond(echo, { messages: [any(register({ sender: echo })), sub(failing, "success")] }).code).toBe(
      10,
    );
    expect(chain.world.dump("interchainqueries")).toEqual(before);
  });

  it("stop at their gas limit, and their gas counts for the call", () => {
    const limited = { ...any(register({ sender: echo })), gas_limit: 1000 };
    const outcome = respond(echo, { messages: [limited] });
    expect([outcome.codespace, outcome.code]).toEqual(["sdk", 11]);
    expect(outcome.log).toContain("SubMsg hit gas limit");
    expect(respond(echo, { messages: [{ ...limited, reply_on: "error" }] }).code).toBe(0);
  });

  it("cannot catch the end of the call's own gas", () => {
    const greedy = { ...any(register({ sender: echo })), reply_on: "error" };
    const response = { ok: { messages: [greedy], attributes: [], events: [], data: null } };
    const outcome = execute(echo, response, [], { gas: createGasMeter(70_000n) });
    expect([outcome.codespace, outcome.code]).toEqual(["sdk", 11]);
  });
});

describe("custom messages and queries", () => {
  it("register, update and remove with the contract as owner, and wrap errors twice", () => {
    const keys = [{ path: "bank", key: "AQ==" }];
    const registration = {
      query_type: "kv",
      keys,
      transactions_filter: "",
      connection_id: "connection-0",
      update_period: 5,
    };
    const custom = (message: JsonValue): Outcome => respond(echo, { messages: [sub({ custom: message })] });
    expect(custom({ register_interchain_query: registration }).code).toBe(0);
    expect(custom({ update_interchain_query: { query_id: 1, new_update_period: 9 } }).code).toBe(0);
    expect(custom({ update_interchain_query: { query_id: 99, new_update_period: 9 } }).log).toContain(
      "failed to update interchain query: failed to update interchain query: failed to get query by query id: there is no query with id: 99: invalid query id: there is no",
    );
    expect(custom({ remove_interchain_query: { query_id: 99 } }).log).toContain(
      "failed to remove interchain query: failed to remove interchain query: ",
    );
    expect(custom({ register_interchain_query: { ...registration, keys: [null] } })).toMatchObject({
      codespace: "sdk",
      code: 29,
    });
    expect(custom({ register_interchain_query: { ...registration, update_period: -1 } })).toMatchObject({
      codespace: "undefined",
      code: 1,
    });
    expect(custom({ remove_interchain_query: { query_id: 1 } }).code).toBe(0);
  });

  it("answer with integers as JSON numbers", () => {
    chain.deliver([register({ sender: echo })]);
    const request = chain.icq.handleCustomQuery;
    const context = chain.world.context();
    expect(request(context, { registered_interchain_query: { query_id: 1 } })).toMatchObject({
      registered_query: {
        id: 1,
        owner: echo,
        keys: [{ path: "somepath", key: "c29tZWRhdGE=" }],
        update_period: 1,
        registered_at_height: 10,
      },
    });
    expect(
      request(context, { registered_interchain_queries: { owners: [consumer], pagination: {} } }),
    ).toEqual({
      registered_queries: [],
    });
    // As on the deployed chain, which reads the page of nothing.
    expect(() => request(context, { registered_interchain_queries: {} })).toThrow(
      expect.objectContaining({ codespace: "undefined", code: 111_222 }),
    );
    expect(() => request(context, { interchain_query_result: { query_id: 42 } })).toThrow(
      expect.objectContaining({ codespace: "interchainqueries", code: 1115 }),
    );
    expect(request(context, { other: {} })).toBeUndefined();
  });

  it("list all queries, and a page of them with the profile deployed", () => {
    chain.deliver([register({ sender: echo }), register({ sender: echo }), register({ sender: echo })]);
    const list = (pagination: object, profile: ProfileName): unknown =>
      chain.icq.handleCustomQuery(chain.world.context({ profile: profileNamed(profile) }), {
        registered_interchain_queries: { owners: [echo], pagination },
      });
    const ids = (...all: readonly number[]): unknown => ({
      registered_queries: all.map((id) => expect.objectContaining({ id })),
    });
    for (const page of [{}, { limit: 1, offset: 1 }, { limit: 2, reverse: true }])
      expect(list(page, "specification")).toEqual(ids(1, 2, 3));
    expect(list({}, "deployed")).toEqual(ids(1, 2, 3));
    expect(list({ limit: 1, offset: 1 }, "deployed")).toEqual(ids(2));
    expect(list({ limit: 2, reverse: true }, "deployed")).toEqual(ids(3, 2));
    expect(list({ limit: 5, key: toBase64(uint64BigEndian(3n)) }, "deployed")).toEqual(ids(3));
  });
});

describe("other messages and queries", () => {
  it("instantiate returns the address, emits an event and stores the info", () => {
    const outcome = chain.deliver([instantiate({})]);
    const { address } = wire.MsgInstantiateContractResponse.decode(
      outcome.responses[0]?.response ?? new Uint8Array(0),
    );
    expect(outcome.events[0]).toEqual({
      type: "instantiate",
      attributes: [
        { key: "_contract_address", value: address, index: true },
        { key: "code_id", value: "2", index: true },
      ],
    });
    const info = query.QueryContractInfoResponse.decode(
      queryWasm("ContractInfo", query.QueryContractInfoRequest.encode({ address }).finish()),
    );
    expect(info.contractInfo).toMatchObject({
      codeId: 2n,
      creator: ALICE,
      label: "mine",
      created: { blockHeight: 10n },
    });
  });

  it.each([
    [{ codeId: 0n }, "sdk", 18],
    [{ codeId: 9n }, "wasm", 28],
    [{ label: "" }, "wasm", 12],
    [{ label: "x".repeat(129) }, "wasm", 13],
    [{ label: " x" }, "wasm", 14],
    [{ admin: "x" }, "wasm", 14],
  ])("instantiate rejects %#", (change, codespace, code) => {
    const outcome = chain.deliver([instantiate(change)]);
    expect([outcome.codespace, outcome.code]).toEqual([codespace, code]);
  });

  it("MsgSudoContract needs the authority", () => {
    const sudo = (authority: string): Outcome =>
      chain.deliver([
        {
          typeUrl: "/cosmwasm.wasm.v1.MsgSudoContract",
          value: wire.MsgSudoContract.encode({ authority, contract: echo, msg: utf8('{"x":1}') }).finish(),
        },
      ]);
    expect(sudo(ALICE)).toMatchObject({ codespace: "sdk", code: 4 });
    expect(sudo(AUTHORITY).events.map(({ type }) => type)).toEqual(["sudo", "wasm"]);
  });

  it("queries return smart, raw and complete state", () => {
    const failure = utf8(JSON.stringify({ set_failure: { tx: true } }));
    chain.wasm.host.execute(chain.world.context(), consumer, { sender: ALICE, funds: [] }, failure);
    const smart = query.QuerySmartContractStateRequest.encode({
      address: consumer,
      queryData: utf8('{"failure":{}}'),
    }).finish();
    const { data } = query.QuerySmartContractStateResponse.decode(queryWasm("SmartContractState", smart));
    expect(JSON.parse(new TextDecoder().decode(data))).toEqual({ kv: false, tx: true });
    const raw = query.QueryRawContractStateRequest.encode({
      address: consumer,
      queryData: utf8("failure"),
    }).finish();
    expect(query.QueryRawContractStateResponse.decode(queryWasm("RawContractState", raw)).data).toEqual(
      new Uint8Array([2]),
    );
    const all = query.QueryAllContractStateRequest.encode({
      address: consumer,
      pagination: undefined,
    }).finish();
    expect(
      query.QueryAllContractStateResponse.decode(queryWasm("AllContractState", all)).models,
    ).toHaveLength(1);
    const none = query.QueryAllContractStateRequest.encode({ address: BOB, pagination: undefined }).finish();
    expect(() => queryWasm("AllContractState", none)).toThrow("no such contract");
    const codes = query.QueryCodesResponse.decode(queryWasm("Codes", new Uint8Array(0)));
    expect(codes.codeInfos.map(({ codeId }) => codeId)).toEqual([1n, 2n]);
  });
});

describe("queries of contracts", () => {
  const querying: ContractCode = {
    name: "querying",
    instantiate: () => NO_RESPONSE,
    query: (scope, message) => scope.query(isRecord(message) ? message : {}),
  };
  const PARAMS = "/neutron.interchainqueries.Query/Params";

  it("reach allowed paths, contracts and the bindings", () => {
    const { query: request, address } = queryingContract();
    expect(request({ stargate: { path: PARAMS, data: "" } })).toMatchObject({
      params: { tx_query_removal_limit: "10000" },
    });
    const grpc = request({ grpc: { path: PARAMS, data: "" } });
    expect(QueryParamsResponse.decode(fromBase64(String(grpc))).params).toEqual(defaultParams("untrn"));
    expect(request({ custom: { registered_interchain_queries: { pagination: {} } } })).toEqual({
      registered_queries: [],
    });
    expect(request({ wasm: { raw: { contract_addr: address, key: "AQ==" } } })).toBeNull();
  });

  it("answer with all digits of integers beyond 2^53, also through another contract", () => {
    const { address, chain: own } = withCode(querying);
    own.bank.fund(address, 1_000_000n);
    own.deliver([register({ sender: address, updatePeriod: 2n ** 64n - 1n })]);
    const custom = { custom: { registered_interchain_query: { query_id: 1 } } };
    const msg = toBase64(utf8(JSON.stringify(custom)));
    for (const request of [custom, { wasm: { smart: { contract_addr: address, msg } } }]) {
      const response = own.wasm.host.query(own.world.context(), address, utf8(JSON.stringify(request)));
      expect(fromUtf8(response)).toContain('"update_period":18446744073709551615,');
    }
  });

  it.each([
    [
      { stargate: { path: "/cosmos.bank.v1beta1.Query/Balance", data: "" } },
      "path is not allowed from the contract",
    ],
    [{ staking: {} }, "unknown Staking variant"],
    [{ custom: { other: {} } }, "unknown neutron query type"],
    [
      { stargate: { path: 1 } },
      "query: json: cannot unmarshal number into Go struct field stargate.path of type string",
    ],
    [{ wasm: { contract_info: {} } }, "invalid address"],
    [{ stargate: { path: PARAMS, data: "%" } }, "query: illegal base64 data at input byte 0"],
    [{ grpc: { path: PARAMS, data: "/w==" } }, "unexpected EOF"],
    [{ wasm: { raw: { contract_addr: "x", key: "" } } }, "x: invalid address"],
  ])("are rejected: %j", (request, text) => {
    expect(() => queryingContract().query(request)).toThrow(text);
  });

  function queryingContract(): { readonly query: (request: JsonValue) => unknown; readonly address: string } {
    const { address, chain: own } = withCode(querying);
    const send = (request: JsonValue): unknown =>
      JSON.parse(
        new TextDecoder().decode(
          own.wasm.host.query(own.world.context(), address, utf8(JSON.stringify(request))),
        ),
      );
    return { query: send, address };
  }
});

describe("genesis", () => {
  it("runs its messages in order, and an import of an export restores the store", () => {
    const fresh = createIcqChain({ ibc: createFakeIbc() });
    const contract = formatAddress("neutron", classicContractAddress(1n, 1n));
    fresh.bank.fund(ALICE, 3_000_000n);
    const registerQuery = {
      register_kv_query: {
        connection_id: "connection-0",
        update_period: 2,
        keys: [{ path: "bank", key: "AQ==" }],
      },
    };
    fresh.wasm.initGenesis(fresh.world.context(), {
      codes: [{ code_id: "1", name: "icq-consumer", creator: ALICE }],
      gen_msgs: [
        {
          instantiate_contract: {
            sender: ALICE,
            code_id: "1",
            label: "consumer",
            msg: {},
            funds: [{ denom: "untrn", amount: "2000000" }],
          },
        },
        { execute_contract: { sender: ALICE, contract, msg: registerQuery, funds: [] } },
      ],
    });
    expect(fresh.bank.balance(contract)).toBe(1_000_000n);
    expect(fresh.world.dump("interchainqueries").map(([key]) => key)).toContain("010000000000000001");
    const exported = fresh.wasm.exportGenesis(fresh.world.context());
    const again = createIcqChain({ ibc: createFakeIbc() });
    again.wasm.initGenesis(again.world.context(), exported);
    expect(again.world.dump("wasm")).toEqual(fresh.world.dump("wasm"));
  });

  it.each([
    [
      { codes: [{ name: "nosuch", creator: ALICE }] },
      'app_state.wasm.codes[0].name: no contract code is called "nosuch"',
    ],
    [
      { codes: [{ code_id: "2", name: "echo", creator: ALICE }] },
      "app_state.wasm.codes[0].code_id: codes must be numbered in order: expected 1",
    ],
    [{ codes: {} }, "app_state.wasm.codes: not a list"],
    [
      { gen_msgs: [{ migrate_contract: {} }] },
      "app_state.wasm.gen_msgs[0]: not one of store_code, instantiate_contract, execute_contract",
    ],
    [
      { gen_msgs: [{ store_code: {} }] },
      "app_state.wasm.gen_msgs[0].store_code: empty address string is not allowed",
    ],
    [
      { gen_msgs: [{ execute_contract: { sender: ALICE, contract: BOB, msg: {} } }] },
      "app_state.wasm.gen_msgs[0].execute_contract: address",
    ],
  ])("fails with the path of the invalid field: %j", (genesis, text) => {
    const fresh = createIcqChain({ ibc: createFakeIbc() });
    expect(() => fresh.wasm.initGenesis(fresh.world.context(), genesis)).toThrow(text);
  });
});

function respond(contract: string, response: { readonly [name: string]: JsonValue }): Outcome {
  return execute(contract, { ok: { messages: [], attributes: [], events: [], data: null, ...response } });
}

function execute(
  contract: string,
  message: JsonValue,
  funds: { denom: string; amount: string }[] = [],
  place: Parameters<IcqChain["deliver"]>[1] = {},
): Outcome {
  const value = wire.MsgExecuteContract.encode({
    sender: ALICE,
    contract,
    msg: utf8(JSON.stringify(message)),
    funds,
  }).finish();
  return chain.deliver([{ typeUrl: TYPE_URL.executeContract, value }], place);
}

function sub(msg: JsonValue, replyOn = "never"): { [name: string]: JsonValue } {
  return { id: 0, msg, gas_limit: null, reply_on: replyOn };
}

function any({ typeUrl, value }: PackedMessage): { [name: string]: JsonValue } {
  return sub({ any: { type_url: typeUrl, value: toBase64(value) } });
}

function instantiate(change: Partial<wire.MsgInstantiateContract>): PackedMessage {
  const message = {
    sender: ALICE,
    admin: "",
    codeId: 2n,
    label: "mine",
    msg: utf8("{}"),
    funds: [],
    ...change,
  };
  return {
    typeUrl: TYPE_URL.instantiateContract,
    value: wire.MsgInstantiateContract.encode(message).finish(),
  };
}

function queryWasm(rpc: string, request: Uint8Array): Uint8Array {
  return chain.query(`/cosmwasm.wasm.v1.Query/${rpc}`, request);
}

/** Creates a chain with one contract of this code. */
function withCode(code: ContractCode): { readonly chain: IcqChain; readonly address: string } {
  const own = createIcqChain({ ibc: createFakeIbc(), codes: [code] });
  own.wasm.initGenesis(own.world.context(), { codes: [{ name: code.name, creator: ALICE }] });
  const contract = { creator: ALICE, admin: "", codeId: 1n, label: "own", message: utf8("{}"), funds: [] };
  return { chain: own, address: own.wasm.host.instantiate(own.world.context(), contract).address };
}

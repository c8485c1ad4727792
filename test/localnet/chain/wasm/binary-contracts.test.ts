import { gzipSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import * as query from "../../../../src/cosmos/proto/gen/cosmwasm/wasm/v1/query.ts";
import * as wire from "../../../../src/cosmos/proto/gen/cosmwasm/wasm/v1/tx.ts";
import { AccessType } from "../../../../src/cosmos/proto/gen/cosmwasm/wasm/v1/types.ts";
import { classicContractAddress, codes } from "../../../../src/localnet/chain/modules/wasm/keeper.ts";
import { formatAddress } from "../../../../src/localnet/chain/runtime/address.ts";
import { createGasMeter } from "../../../../src/localnet/chain/runtime/gas.ts";
import { fromUtf8, sha256, toBase64, toHex, utf8 } from "../../../../src/platform/base/bytes.ts";
import type { JsonValue } from "../../../../src/platform/base/json.ts";
import {
  ALICE,
  AUTHORITY,
  BOB,
  createIcqChain,
  type IcqChain,
  type Outcome,
} from "../../../support/icq-chain.ts";
import { I32, OP } from "../../../../src/localnet/vm/operators.ts";
import {
  buildContract,
  buildEchoContract,
  call,
  i32,
  regionBytes,
  RESULT_POINTER,
} from "../../../support/vm/wasm-builder.ts";

const CODE = buildEchoContract();
const TYPE = "/cosmwasm.wasm.v1.";

let chain: IcqChain;

beforeEach(() => {
  chain = createIcqChain();
  chain.wasm.initGenesis(chain.world.context(), {});
});

interface Wire<T> {
  encode(message: T): { finish(): Uint8Array };
}

function send<T>(name: string, type: Wire<T>, message: T, gas?: bigint): Outcome {
  const place = gas === undefined ? {} : { gas: createGasMeter(gas) };
  return chain.deliver([{ typeUrl: `${TYPE}${name}`, value: type.encode(message).finish() }], place);
}

function upload(code: Uint8Array, sender = ALICE): Outcome {
  return send("MsgStoreCode", wire.MsgStoreCode, {
    sender,
    wasmByteCode: code,
    instantiatePermission: undefined,
  });
}

const EMPTY_RESPONSE = { ok: {} };

function instantiate(
  message: unknown = EMPTY_RESPONSE,
  more: Partial<wire.MsgInstantiateContract> = {},
): Outcome {
  return send("MsgInstantiateContract", wire.MsgInstantiateContract, {
    sender: ALICE,
    admin: ALICE,
    codeId: 1n,
    label: "echo",
    msg: utf8(JSON.stringify(message)),
    funds: [],
    ...more,
  });
}

/** The address of the n-th instance of the first code. */
function instance(number = 1n): string {
  return formatAddress("neutron", classicContractAddress(1n, number));
}

function execute(message: unknown, gas?: bigint): Outcome {
  const msg = utf8(typeof message === "string" ? message : JSON.stringify(message));
  return send(
    "MsgExecuteContract",
    wire.MsgExecuteContract,
    { sender: ALICE, contract: instance(), msg, funds: [] },
    gas,
  );
}

function deployed(): void {
  expect(upload(CODE)).toMatchObject({ code: 0, log: "" });
  expect(instantiate()).toMatchObject({ code: 0, log: "" });
}

function stored(key: string, address = instance()): string {
  const request = query.QueryRawContractStateRequest.encode({ address, queryData: utf8(key) }).finish();
  const response = chain.query(`${TYPE}Query/RawContractState`, request);
  return fromUtf8(query.QueryRawContractStateResponse.decode(response).data);
}

function attributesOf({ events }: Outcome): string[] {
  return events.map(
    ({ type, attributes }) => `${type}:${attributes.map(({ key, value }) => `${key}=${value}`).join()}`,
  );
}

describe("an upload", () => {
  it("costs three gas for each byte, and its code is returned as it was unpacked", () => {
    const plain = upload(CODE);
    const packed = upload(gzipSync(CODE));
    expect(packed.events[0]?.attributes.map(({ value }) => value)).toEqual([toHex(sha256(CODE)), "2"]);
    const extra = (15n * BigInt(gzipSync(CODE).length)) / 100n;
    // The first upload reads an absent counter.
    expect(packed.gasUsed - plain.gasUsed).toBe(extra + 24n);
    const info = query.QueryCodeResponse.decode(
      chain.query(`${TYPE}Query/Code`, query.QueryCodeRequest.encode({ codeId: 2n }).finish()),
    );
    expect(info.data).toEqual(CODE);
  });

  it("charges for code that is refused, with the deployed text", () => {
    const bad = new Uint8Array(1000);
    const outcome = upload(bad);
    expect(outcome).toMatchObject({ codespace: "wasm", code: 2 });
    expect(outcome.log).toContain("Error calling the VM: Error during static Wasm validation: ");
    expect(outcome.log).toMatch(/: create wasm contract failed$/);
    // Each byte costs 3, also of code that is refused.
    expect(upload(new Uint8Array(2000)).gasUsed - outcome.gasUsed).toBe(3n * 1000n);
  });

  it.each([
    ["gzip that ends early", gzipSync(CODE).subarray(0, 100), "uncompress wasm archive: unexpected EOF"],
    ["gzip of too much", gzipSync(new Uint8Array(2_000_000)), "uncompress wasm archive: exceeds limit"],
  ])("%s is refused", (_, code, text) => {
    expect(upload(new Uint8Array(code)).log).toContain(`${text}: create wasm contract failed`);
  });

  it("is open to those whom the parameters name", () => {
    const params = {
      codeUploadAccess: { permission: AccessType.ACCESS_TYPE_ANY_OF_ADDRESSES, addresses: [BOB] },
      instantiateDefaultPermission: AccessType.ACCESS_TYPE_ANY_OF_ADDRESSES,
    };
    expect(send("MsgUpdateParams", wire.MsgUpdateParams, { authority: ALICE, params }).code).toBe(4);
    expect(send("MsgUpdateParams", wire.MsgUpdateParams, { authority: AUTHORITY, params }).code).toBe(0);
    expect(upload(CODE).log).toContain("can not create code: unauthorized");
    expect(upload(CODE, BOB).code).toBe(0);
    expect(codes.get(chain.world.context(), 1n)?.instantiateConfig).toEqual({
      permission: AccessType.ACCESS_TYPE_ANY_OF_ADDRESSES,
      addresses: [BOB],
    });
    expect(instantiate().log).toContain("can not instantiate: unauthorized");
  });
});

describe("a call", () => {
  beforeEach(deployed);

  it("gets env, info and message as the deployed chain writes them", () => {
    expect(execute(' { "ok" : { } } ').code).toBe(0);
    expect(stored("env")).toBe(
      `{"block":{"height":10,"time":"0","chain_id":"test-1"},"transaction":null,"contract":{"address":"${instance()}"}}`,
    );
    expect(stored("info")).toBe(`{"sender":"${ALICE}","funds":[]}`);
    expect(stored("msg")).toBe(' { "ok" : { } } ');
  });

  it("emits its events and returns its data", () => {
    const outcome = execute({
      ok: {
        attributes: [{ key: " a ", value: "1" }],
        events: [{ type: " thing ", attributes: [{ key: "b", value: "2" }] }],
        data: toBase64(utf8("done")),
        unknown: 1,
      },
    });
    const own = `_contract_address=${instance()}`;
    expect(attributesOf(outcome)).toEqual([`execute:${own}`, `wasm:${own},a=1`, `wasm-thing:${own},b=2`]);
    expect(
      wire.MsgExecuteContractResponse.decode(outcome.responses[0]?.response ?? new Uint8Array()).data,
    ).toEqual(utf8("done"));
  });

  it.each([
    [{ error: "no" }, "wasm", 5, "no: execute wasm contract failed"],
    [
      { ok: null },
      "undefined",
      111222,
      "recovered: runtime error: invalid memory address or nil pointer dereference: panic",
    ],
    [[], "wasm", 29, "json: cannot unmarshal array into Go value of type struct: wasmvm error"],
    [{ ok: { data: "a" } }, "wasm", 29, "illegal base64 data at input byte 0: wasmvm error"],
    [
      { ok: { attributes: [{ key: "_a", value: "" }] } },
      "wasm",
      21,
      "dispatch: Attribute key starts with reserved prefix _: '_a': invalid event",
    ],
    [
      { ok: { events: [{ type: " ab ", attributes: [] }] } },
      "wasm",
      21,
      "dispatch: Event type too short: 'ab': invalid event",
    ],
    [{ ok: { messages: [{ id: 1, msg: {} }] } }, "wasm", 14, "dispatch: submessages: replyOn value: invalid"],
    [
      { ok: { messages: [{ id: 1, msg: {}, reply_on: "x" }] } },
      "wasm",
      29,
      "invalid reply_on value 'x': wasmvm error",
    ],
    [
      { ok: { messages: [{ id: 1, msg: {}, reply_on: "never" }] } },
      "wasm",
      20,
      "no handler found: unknown message from the contract",
    ],
  ])("fails: %j", (message, codespace, code, text) => {
    const outcome = execute(message);
    expect(outcome).toMatchObject({ codespace, code });
    expect(outcome.log).toContain(text);
  });

  it("costs 58,000 less when the code is pinned", () => {
    const before = execute(EMPTY_RESPONSE).gasUsed;
    const pin = { authority: AUTHORITY, codeIds: [1n] };
    expect(attributesOf(send("MsgPinCodes", wire.MsgPinCodes, pin))).toEqual(["pin_code:code_id=1"]);
    expect(before - execute(EMPTY_RESPONSE).gasUsed).toBe(58_000n);
    expect(send("MsgUnpinCodes", wire.MsgUnpinCodes, pin).code).toBe(0);
    expect(execute(EMPTY_RESPONSE).gasUsed).toBe(before);
    expect(send("MsgPinCodes", wire.MsgPinCodes, { ...pin, authority: ALICE }).code).toBe(4);
  });

  it("whose result ends in a panic loses its own gas", () => {
    const used = (message: unknown): bigint => execute(message).gasUsed;
    const long = "x".repeat(5000);
    expect(used({ error: long }) - used({ error: "x" })).toBeGreaterThan(5000n);
    // Only the store accesses are left, of which that of the message is longer.
    const panic = (text: string): bigint => used({ ok: null, text });
    expect(panic(long) - panic("x")).toBe(30n * 4999n);
  });

  it("that uses exactly its gas is out of gas, and one more is enough", () => {
    const { gasUsed } = execute(EMPTY_RESPONSE);
    expect(execute(EMPTY_RESPONSE, gasUsed).log).toContain(
      "out of gas in location: Wasm engine function execution; ",
    );
    expect(execute(EMPTY_RESPONSE, gasUsed + 1n)).toMatchObject({ code: 0, gasUsed });
    // The store access that exceeds the limit is paid, and the gas of the virtual machine until then.
    const outcome = execute(EMPTY_RESPONSE, gasUsed - 5000n);
    expect(outcome.log).toContain("out of gas in location: wasm contract; ");
    expect(outcome.gasUsed).toBeGreaterThan(gasUsed - 5000n);
  });

  it("that never ends uses its whole gas, of which the store had its part", () => {
    const key = 2048;
    const write = [...i32(key), ...i32(key), ...call(0)];
    const entry = { results: [I32], body: i32(RESULT_POINTER), exportAs: "instantiate" };
    const code = buildContract([...write, OP.loop, 0x40, OP.br, 0, OP.end], {
      imports: [{ name: "db_write", params: [I32, I32] }],
      functions: [{ ...entry, params: [I32, I32, I32] }],
      data: [
        [key, regionBytes(key + 16, 1, 1)],
        [key + 16, utf8("k")],
      ],
      result: '{"ok":{}}',
    });
    expect(upload(code).code).toBe(0);
    expect(instantiate({}, { codeId: 2n })).toMatchObject({ code: 0, log: "" });
    const contract = formatAddress("neutron", classicContractAddress(2n, 2n));
    const message = { sender: ALICE, contract, msg: utf8("{}"), funds: [] };
    const outcome = send("MsgExecuteContract", wire.MsgExecuteContract, message, 100_000n);
    expect(outcome.log).toContain("out of gas in location: Wasm engine function execution; ");
    expect(outcome.gasUsed).toBe(100_000n);
  });

  it("without an entry point fails with its name", () => {
    expect(upload(buildContract([])).code).toBe(0);
    expect(instantiate({}, { codeId: 2n }).log).toContain(
      "Error calling the VM: Error resolving Wasm function: Could not get export: Missing export instantiate: wasmvm error",
    );
  });
});

describe("sub-messages", () => {
  const inner = (message: unknown): unknown => ({
    wasm: { execute: { contract_addr: instance(), msg: toBase64(utf8(JSON.stringify(message))), funds: [] } },
  });
  const messages = (...list: readonly unknown[]): unknown => ({ ok: { messages: list } });

  beforeEach(deployed);

  it("of a contract reply with their events, attributes sorted, and data", () => {
    const message = inner({
      ok: {
        attributes: [
          { key: "z", value: "<" },
          { key: "A", value: "2" },
        ],
        data: "AQI=",
      },
    });
    const outcome = execute(messages({ id: 7, msg: message, reply_on: "always", payload: "AQ==" }));
    expect(outcome.code).toBe(0);
    const own = `{"key":"_contract_address","value":"${instance()}"}`;
    expect(stored("reply")).toBe(
      `{"gas_used":0,"id":7,"result":{"ok":{"events":[{"type":"execute","attributes":[${own}]},{"type":"wasm","attributes":[{"key":"A","value":"2"},${own},{"key":"z","value":"\\u003c"}]}],"data":"CgIBAg==","msg_responses":[{"type_url":"/cosmwasm.wasm.v1.MsgExecuteContractResponse","value":"CgIBAg=="}]}},"payload":"AQ=="}`,
    );
    expect(attributesOf(outcome).at(-1)).toBe(`wasm:_contract_address=${instance()},called=yes`);
  });

  it("reply with the text of a contract's error, and with the code of any other", () => {
    execute(messages({ id: 1, msg: inner({ error: "no" }), reply_on: "error" }));
    expect(stored("reply")).toBe(
      '{"gas_used":0,"id":1,"result":{"error":"no: execute wasm contract failed"}}',
    );
    const bad = messages({ id: 1, msg: {}, reply_on: "never" });
    execute(messages({ id: 2, msg: inner(bad), reply_on: "error" }));
    expect(stored("reply")).toBe('{"gas_used":0,"id":2,"result":{"error":"codespace: wasm, code: 20"}}');
  });

  it("with a gas limit lose only that gas", () => {
    const limited = { id: 3, msg: inner(EMPTY_RESPONSE), reply_on: "error", gas_limit: 70_000 };
    expect(execute(messages(limited), 1_000_000n).code).toBe(0);
    expect(stored("reply")).toBe('{"gas_used":0,"id":3,"result":{"error":"codespace: sdk, code: 11"}}');
    expect(execute(messages({ ...limited, reply_on: "never" }), 1_000_000n).log).toContain(
      "dispatch: submessages: SubMsg hit gas limit: out of gas",
    );
  });

  it("that call their contract again end at the greatest depth", () => {
    const looping = formatAddress("neutron", classicContractAddress(2n, 2n));
    const again = { wasm: { execute: { contract_addr: looping, msg: "e30=", funds: [] } } };
    const result = JSON.stringify(messages({ id: 1, msg: again, reply_on: "never" }));
    const body = i32(RESULT_POINTER);
    const entry = { params: [I32, I32, I32], results: [I32], body, exportAs: "instantiate" };
    expect(upload(buildContract([], { result, functions: [entry] })).code).toBe(0);
    expect(instantiate({}, { codeId: 2n })).toMatchObject({ codespace: "wasm", code: 30 });
  });

  it("send nothing for a payment of no coins, and fail for invalid ones", () => {
    const pay = (amount: unknown): Outcome =>
      execute(messages({ id: 1, msg: { bank: { send: { to_address: BOB, amount } } }, reply_on: "never" }));
    expect(pay([])).toMatchObject({ code: 0 });
    expect(pay([{ denom: "untrn", amount: "x" }]).log).toContain(
      "dispatch: submessages: xuntrn: invalid coins",
    );
  });
});

describe("queries of a contract", () => {
  beforeEach(deployed);

  const ask = (request: unknown): string => {
    const msg = utf8(JSON.stringify(request));
    const outcome = send(
      "MsgSudoContract",
      wire.MsgSudoContract,
      { authority: AUTHORITY, contract: instance(), msg },
      1_000_000n,
    );
    expect(outcome).toMatchObject({ code: 0, log: "" });
    return stored("msg");
  };
  const okOf = (text: string): string => JSON.stringify({ ok: { ok: toBase64(utf8(text)) } });

  it.each([
    [
      { wasm: { contract_info: { contract_addr: instance() } } },
      okOf(`{"code_id":1,"creator":"${ALICE}","admin":"${ALICE}","pinned":false}`),
    ],
    [
      { wasm: { code_info: { code_id: 1 } } },
      okOf(`{"code_id":1,"creator":"${ALICE}","checksum":"${toHex(sha256(CODE))}"}`),
    ],
    [{ wasm: { raw: { contract_addr: instance(), key: "eA==" } } }, okOf("")],
    [{ wasm: { smart: { contract_addr: instance(), msg: toBase64(utf8('{"ok":"WzFd"}')) } } }, okOf("[1]")],
    [
      { wasm: { smart: { contract_addr: instance(), msg: toBase64(utf8('{"error":"no"}')) } } },
      '{"ok":{"error":"no: query wasm contract failed"}}',
    ],
    [
      { wasm: { smart: { contract_addr: BOB, msg: "e30=" } } },
      `{"error":{"no_such_contract":{"addr":"${BOB}"}}}`,
    ],
    [{ wasm: { code_info: { code_id: 9 } } }, '{"error":{"no_such_code":{"code_id":9}}}'],
    [
      { bank: { balance: { address: BOB, denom: "untrn" } } },
      okOf('{"amount":{"denom":"untrn","amount":"0"}}'),
    ],
    [{ bank: { balance: { address: "x", denom: "untrn" } } }, '{"ok":{"error":"codespace: sdk, code: 7"}}'],
    [
      { stargate: { path: "/a", data: "" } },
      `{"error":{"unsupported_request":{"kind":"'/a' path is not allowed from the contract"}}}`,
    ],
    [{ other: {} }, '{"error":{"unknown":{}}}'],
  ])("%j", (request, response) => {
    expect(ask(request)).toBe(response);
  });

  it("use at most the gas that the call has left", () => {
    const smart = { wasm: { smart: { contract_addr: instance(), msg: toBase64(utf8('{"ok":"e30="}')) } } };
    const msg = utf8(JSON.stringify(smart));
    const sudo = (gas: bigint): Outcome =>
      send("MsgSudoContract", wire.MsgSudoContract, { authority: AUTHORITY, contract: instance(), msg }, gas);
    expect(sudo(1_000_000n).code).toBe(0);
    // The second instance is beyond the limit; its price is the last that is taken.
    const outcome = sudo(100_000n);
    expect(outcome.log).toContain("out of gas in location: ");
    expect(outcome.gasUsed).toBeLessThan(140_000n);
  });

  it("run outside of calls, and are refused without JSON", () => {
    const smart = query.QuerySmartContractStateRequest.encode({
      address: instance(),
      queryData: utf8('{"ok":"e30="}'),
    }).finish();
    const response = chain.query(`${TYPE}Query/SmartContractState`, smart);
    expect(fromUtf8(query.QuerySmartContractStateResponse.decode(response).data)).toBe("{}");
    const broken = query.QuerySmartContractStateRequest.encode({
      address: instance(),
      queryData: utf8("{"),
    }).finish();
    expect(() => chain.query(`${TYPE}Query/SmartContractState`, broken)).toThrow("invalid query data");
  });
});

describe("migration and admin", () => {
  beforeEach(deployed);

  const migrate = (codeId: bigint, sender = ALICE, message: unknown = EMPTY_RESPONSE): Outcome =>
    send("MsgMigrateContract", wire.MsgMigrateContract, {
      sender,
      contract: instance(),
      codeId,
      msg: utf8(JSON.stringify(message)),
    });

  it("leaves out white space of the message, also in the history", () => {
    const outcome = instantiate(EMPTY_RESPONSE, { msg: utf8(' { "ok" : { "x" : " \\" " } } ') });
    expect(outcome.code).toBe(0);
    const request = query.QueryContractHistoryRequest.encode({
      address: instance(2n),
      pagination: undefined,
    });
    const response = chain.query(`${TYPE}Query/ContractHistory`, request.finish());
    const [entry] = query.QueryContractHistoryResponse.decode(response).entries;
    expect(fromUtf8(entry?.msg ?? new Uint8Array())).toBe('{"ok":{"x":" \\" "}}');
  });

  it("changes the code, and writes index and history", () => {
    upload(CODE);
    expect(migrate(2n, BOB).log).toContain("can not migrate: unauthorized");
    expect(migrate(9n).log).toContain("unknown code: invalid request");
    expect(migrate(2n, ALICE, { error: "no" }).log).toContain("no: migrate wasm contract failed");
    expect(attributesOf(migrate(2n))).toEqual([`migrate:code_id=2,_contract_address=${instance()}`]);
    const byCode = (codeId: bigint): readonly string[] =>
      query.QueryContractsByCodeResponse.decode(
        chain.query(
          `${TYPE}Query/ContractsByCode`,
          query.QueryContractsByCodeRequest.encode({ codeId, pagination: undefined }).finish(),
        ),
      ).contracts;
    expect([byCode(1n), byCode(2n)]).toEqual([[], [instance()]]);
    const history = query.QueryContractHistoryResponse.decode(
      chain.query(
        `${TYPE}Query/ContractHistory`,
        query.QueryContractHistoryRequest.encode({ address: instance(), pagination: undefined }).finish(),
      ),
    );
    expect(history.entries.map(({ operation, codeId }) => [operation, codeId])).toEqual([
      [1, 1n],
      [2, 2n],
    ]);
  });

  it("does not call code of the same migrate version", () => {
    for (const version of ["42", "42", "43"]) expect(upload(buildEchoContract(version)).code).toBe(0);
    expect(migrate(2n, ALICE, { error: "called" }).log).toContain("called: migrate wasm contract failed");
    expect(migrate(2n).code).toBe(0);
    expect(migrate(3n, ALICE, { error: "not called" }).code).toBe(0);
    expect(migrate(4n, ALICE, { error: "called" }).log).toContain("called");
  });

  it("belongs to the admin", () => {
    const admin = (sender: string, newAdmin: string): Outcome =>
      send("MsgUpdateAdmin", wire.MsgUpdateAdmin, { sender, newAdmin, contract: instance() });
    expect(admin(BOB, ALICE).log).toContain("can not modify contract: unauthorized");
    expect(attributesOf(admin(ALICE, BOB))).toEqual([
      `update_contract_admin:_contract_address=${instance()},new_admin_address=${BOB}`,
    ]);
    const label = { sender: BOB, newLabel: "new", contract: instance() };
    expect(send("MsgUpdateContractLabel", wire.MsgUpdateContractLabel, label).code).toBe(0);
    expect(send("MsgClearAdmin", wire.MsgClearAdmin, { sender: BOB, contract: instance() }).code).toBe(0);
    expect(migrate(1n, BOB).log).toContain("can not migrate: unauthorized");
    expect(migrate(1n, AUTHORITY).code).toBe(0);
  });

  it("an address of instantiate2 depends on the salt, and is taken once", () => {
    const create = (salt: string): Outcome =>
      send("MsgInstantiateContract2", wire.MsgInstantiateContract2, {
        sender: ALICE,
        admin: "",
        codeId: 1n,
        label: "two",
        msg: utf8('{"ok":{}}'),
        funds: [],
        salt: utf8(salt),
        fixMsg: false,
      });
    const built = query.QueryBuildAddressResponse.decode(
      chain.query(
        `${TYPE}Query/BuildAddress`,
        query.QueryBuildAddressRequest.encode({
          codeHash: toHex(sha256(CODE)),
          creatorAddress: ALICE,
          salt: toHex(utf8("a")),
          initArgs: new Uint8Array(),
        }).finish(),
      ),
    );
    const { responses } = create("a");
    expect(
      wire.MsgInstantiateContract2Response.decode(responses[0]?.response ?? new Uint8Array()).address,
    ).toBe(built.address);
    expect(create("a")).toMatchObject({ codespace: "wasm", code: 15 });
    expect(create("b").code).toBe(0);
    expect(create("")).toMatchObject({ codespace: "wasm", code: 12 });
  });

  it("the creator narrows who may instantiate", () => {
    const change = (sender: string): Outcome =>
      send("MsgUpdateInstantiateConfig", wire.MsgUpdateInstantiateConfig, {
        sender,
        codeId: 1n,
        newInstantiatePermission: { permission: AccessType.ACCESS_TYPE_NOBODY, addresses: [] },
      });
    expect(change(BOB).log).toContain("can not modify code access config: unauthorized");
    expect(attributesOf(change(ALICE))).toEqual([
      "update_code_access_config:code_permission=Nobody,code_id=1",
    ]);
    expect(instantiate().log).toContain("can not instantiate: unauthorized");
  });
});

describe("an export", () => {
  it("has the code, and its import restores the store", () => {
    deployed();
    send("MsgPinCodes", wire.MsgPinCodes, { authority: AUTHORITY, codeIds: [1n] });
    execute(EMPTY_RESPONSE);
    upload(CODE);
    const migration = { sender: ALICE, contract: instance(), codeId: 2n, msg: utf8('{"ok":{}}') };
    expect(send("MsgMigrateContract", wire.MsgMigrateContract, migration).code).toBe(0);
    const exported = chain.wasm.exportGenesis(chain.world.context());
    const other = createIcqChain();
    other.wasm.initGenesis(other.world.context(), exported);
    expect(other.world.dump("wasm")).toEqual(chain.world.dump("wasm"));
    chain = other;
    expect(execute(EMPTY_RESPONSE).code).toBe(0);
  });

  it("of wasmd is accepted, too", () => {
    deployed();
    const { codes: exportedCodes, contracts } = z
      .object({ codes: z.array(z.unknown()), contracts: z.array(z.looseObject({})) })
      .parse(chain.wasm.exportGenesis(chain.world.context()));
    const updated = { block_height: "10", tx_index: "0" };
    const operation = "CONTRACT_CODE_HISTORY_OPERATION_TYPE_INIT";
    const entry = { operation, code_id: "1", updated, msg: EMPTY_RESPONSE };
    const key = (name: string): string => toBase64(utf8(`\u0004${name}`));
    const genesis: JsonValue = JSON.parse(
      JSON.stringify({
        codes: exportedCodes,
        contracts: contracts.map((contract) => ({ ...contract, contract_code_history: [entry] })),
        sequences: [
          { id_key: key("lastCodeId"), value: "2" },
          { id_key: key("lastContractId"), value: "2" },
        ],
      }),
    );
    const other = createIcqChain();
    other.wasm.initGenesis(other.world.context(), genesis);
    expect(other.world.dump("wasm")).toEqual(chain.world.dump("wasm"));
    const sequences = [{ id_key: key("other"), value: "1" }];
    const third = createIcqChain();
    expect(() => third.wasm.initGenesis(third.world.context(), { sequences })).toThrow(
      "sequences[0].id_key: no such counter",
    );
  });

  it.each([
    [
      "another hash",
      { code_hash: toBase64(new Uint8Array(32)) },
      toBase64(CODE),
      /codes\[0\].code_bytes: the SHA-256 is/,
    ],
    [
      "code that is refused",
      { code_hash: toBase64(sha256(utf8("x"))) },
      toBase64(utf8("x")),
      /codes\[0\].code_bytes: Error calling the VM/,
    ],
  ])("with %s is refused", (_, info, bytes, text) => {
    const code = { code_id: "1", code_info: { ...info, creator: ALICE }, code_bytes: bytes };
    const other = createIcqChain();
    expect(() => other.wasm.initGenesis(other.world.context(), { codes: [code] })).toThrow(text);
  });
});

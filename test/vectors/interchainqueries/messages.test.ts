import { describe, expect, it } from "vitest";
import {
  type KeyList,
  validateRegister,
  validateUpdate,
} from "../../../src/localnet/chain/modules/interchainqueries/handlers.ts";
import {
  getQuery,
  setQuery,
  queries,
  defaultParams,
} from "../../../src/localnet/chain/modules/interchainqueries/keeper.ts";
import { profileNamed } from "../../../src/localnet/chain/deviations/profile-named.ts";
import { ModuleError } from "../../../src/localnet/chain/runtime/errors.ts";
import { createFakeIbc } from "../../support/fake-ibc.ts";
import {
  addContract,
  ALICE,
  BOB,
  createIcqChain,
  type IcqChain,
  type Outcome,
} from "../../support/icq-chain.ts";
import {
  kvKey,
  register,
  registerTx,
  remove,
  submit,
  update,
  updateParams,
} from "../../support/icq-messages.ts";

// Most cases are those of the Go module's own tests, by error code.
const A = "neutron17dtl0mjt3t77kpuhg2edqzjpszulwhgzcdvagh";
const RULES = { bech32Prefix: "neutron", params: defaultParams("untrn") };
const KEY = kvKey("path1", "key1");
const BAD_KEYS: readonly (readonly [name: string, keys: KeyList, code: string])[] = [
  ["33 keys", Array(33).fill(undefined), "interchainqueries/1120"],
  ["a nil key", [KEY, undefined], "sdk/29"],
  ["a key twice", [KEY, KEY], "sdk/18"],
  ["an empty path", [{ ...KEY, path: "" }], "interchainqueries/1118"],
  ["an empty key", [kvKey("path", "")], "interchainqueries/1119"],
];

describe("stateless checks of a registration", () => {
  const base = {
    queryType: "tx",
    keys: [],
    transactionsFilter: "[]",
    connectionId: "connection-0",
    updatePeriod: 1n,
    sender: A,
  };
  const cases: readonly (readonly [string, object, string])[] = [
    ["zero period", { updatePeriod: 0n }, "interchainqueries/1103"],
    ["empty sender", { sender: "" }, "sdk/7"],
    ["bad sender", { sender: "cosmos14234_invalid_address" }, "sdk/7"],
    ["empty connection", { connectionId: "" }, "interchainqueries/1104"],
    ["bad type", { queryType: "invalid_type" }, "interchainqueries/1105"],
    ["upper-case type", { queryType: "KV" }, "interchainqueries/1105"],
    ["kv without keys", { queryType: "kv" }, "interchainqueries/1117"],
    ["junk filter", { transactionsFilter: "&)(^Y(*&(*&(&(*" }, "interchainqueries/1106"],
    ...BAD_KEYS.map(([name, keys, code]) => [name, { queryType: "kv", keys }, code] as const),
  ];

  it.each(cases)("%s", (_name, change, code) => {
    expect(codeOf(() => validateRegister({ ...base, ...change }, RULES))).toBe(code);
  });

  it("accept a TX query with any keys and a KV query with any filter", () => {
    expect(() => validateRegister({ ...base, keys: [KEY, KEY] }, RULES)).not.toThrow();
    const kv = { ...base, queryType: "kv", keys: [KEY], transactionsFilter: "{}" };
    expect(() => validateRegister(kv, RULES)).not.toThrow();
  });
});

describe("stateless checks of an update", () => {
  const base = { queryId: 1n, newKeys: [], newUpdatePeriod: 0n, newTransactionsFilter: "", sender: A };
  const filter = '{"field":"transfer.recipient","op":"eq","value":"cosmos1xxx"}';
  const cases: readonly (readonly [string, object, string])[] = [
    ["id 0", { queryId: 0n, newKeys: [KEY], newUpdatePeriod: 1n }, "interchainqueries/1100"],
    ["nothing set", {}, "sdk/18"],
    ["both", { newKeys: [KEY], newTransactionsFilter: filter }, "sdk/18"],
    ["a filter that is no list", { newTransactionsFilter: filter }, "interchainqueries/1106"],
    ["empty sender", { newKeys: [KEY], sender: "" }, "sdk/7"],
    ["bad sender", { newKeys: [KEY], sender: "invalid-sender" }, "sdk/7"],
    ["bad sender after bad keys", { newKeys: [KEY, KEY], sender: "" }, "sdk/18"],
    ...BAD_KEYS.map(([name, newKeys, code]) => [name, { newKeys }, code] as const),
  ];

  it.each(cases)("%s", (_name, change, code) => {
    expect(codeOf(() => validateUpdate({ ...base, ...change }, RULES))).toBe(code);
  });
});

describe("registration", () => {
  it("rejects unknown and malformed connections, too low balances, accounts and invalid addresses", () => {
    const chain = createIcqChain({ ibc: createFakeIbc() });
    const owner = addContract(chain, "echo");
    const poor = addContract(chain, "echo", 0n);
    const cases: readonly (readonly [object, string])[] = [
      [
        { sender: owner, connectionId: "connection-9" },
        "1104: …rpc error: code = NotFound desc = connection-9: connection not found",
      ],
      [
        { sender: owner, connectionId: "unknown" },
        "1104: …rpc error: code = InvalidArgument desc = identifier unknown has invalid length: 7, must be between 10-64 characters: invalid identifier",
      ],
      [{ sender: owner, connectionId: "connection/0" }, "1104: …cannot contain separator '/'"],
      [{ sender: owner, connectionId: "connection 0" }, "1104: …must contain only alphanumeric"],
      [
        { sender: poor },
        "5: …failed to collect deposit: spendable balance 0untrn is smaller than 1000000untrn: insufficient funds",
      ],
      [{ sender: ALICE }, "1116: …is not a contract address: not a contract"],
      [{ sender: "notbech32" }, "7: …failed to parse address: notbech32: invalid address"],
    ];
    for (const [fields, expected] of cases) {
      const [code = "", text = ""] = expected.split(": …");
      const outcome = chain.deliver([register(fields)]);
      expect(outcome.code).toBe(Number(code));
      expect(outcome.log).toContain(text);
    }
    expect(chain.world.dump("interchainqueries")).toHaveLength(1);
  });

  it("stores the present parameters, moves the deposit and assigns ids from 1", () => {
    const chain = createIcqChain({ ibc: createFakeIbc() });
    const owner = addContract(chain, "echo", 5_000_000n);
    const outcome = chain.deliver([register({ sender: owner })], { height: 77n });
    expect(outcome.code).toBe(0);
    const query = queries.get(chain.world.context(), 1n);
    expect(query).toMatchObject({ id: 1n, owner, submitTimeout: 1_036_800n, registeredAtHeight: 77n });
    expect(query?.deposit).toEqual([{ denom: "untrn", amount: "1000000" }]);
    expect(chain.bank.balance(owner)).toBe(4_000_000n);
    expect(outcome.events.at(-1)?.attributes.map(({ key, value }) => `${key}=${value}`)).toEqual([
      "module=interchainqueries",
      "action=query_updated",
      "query_id=1",
      "connection_id=connection-0",
      `owner=${owner}`,
      "type=kv",
      "tx_filter=",
      "kv_key=somepath/736f6d6564617461",
    ]);
  });

  it("has the chain's own name in event and type URLs", () => {
    const chain = createIcqChain({ chainName: "mychain", ibc: createFakeIbc() });
    const owner = addContract(chain, "echo");
    const { value } = register({ sender: owner });
    const outcome = chain.deliver([
      { typeUrl: "/mychain.interchainqueries.MsgRegisterInterchainQuery", value },
    ]);
    expect(outcome.events.at(-1)?.type).toBe("mychain");
    expect(outcome.responses[0]?.typeUrl).toBe(
      "/mychain.interchainqueries.MsgRegisterInterchainQueryResponse",
    );
  });
});

describe("update", () => {
  const cases: readonly (readonly [string, object, number, object])[] = [
    [
      "period of the kv query",
      { newUpdatePeriod: 2n },
      0,
      { updatePeriod: 2n, keys: [kvKey("somepath", "somedata")] },
    ],
    [
      "period of the tx query",
      { queryId: 2n, newUpdatePeriod: 2n },
      0,
      { updatePeriod: 2n, transactionsFilter: "[]" },
    ],
    [
      "keys",
      { newKeys: [kvKey("newpath", "newdata")] },
      0,
      { updatePeriod: 1n, keys: [kvKey("newpath", "newdata")] },
    ],
    ["filter", { queryId: 2n, newTransactionsFilter: "[ ]" }, 0, { transactionsFilter: "[ ]" }],
    ["filter for kv", { newTransactionsFilter: "[]", newUpdatePeriod: 2n }, 18, { updatePeriod: 1n }],
    ["keys for tx", { queryId: 2n, newKeys: [KEY], newUpdatePeriod: 2n }, 18, { updatePeriod: 1n, keys: [] }],
    ["unknown query", { queryId: 3n, newUpdatePeriod: 2n }, 1100, {}],
    ["another sender", { sender: ALICE, newUpdatePeriod: 2n }, 4, { updatePeriod: 1n }],
  ];

  it.each(cases)("%s", (_name, fields, code, after) => {
    const { chain, owner } = twoQueries();
    const message = { queryId: 1n, sender: owner, ...fields };
    expect(chain.deliver([update(message)]).code).toBe(code);
    expect(queries.get(chain.world.context(), message.queryId) ?? {}).toMatchObject(after);
  });

  it("compares owners as text: the same address in upper case is a different sender", () => {
    const { chain, owner } = twoQueries();
    expect(chain.deliver([update({ sender: owner.toUpperCase(), newUpdatePeriod: 2n })]).code).toBe(4);
  });
});

describe("checks of a submission", () => {
  const cases: readonly (readonly [string, Outcome["code"], Parameters<typeof submit>])[] = [
    ["no result", 1101, [1n, ALICE, undefined]],
    ["neither values nor block", 1101, [1n, ALICE, { height: 100n, revision: 1n }]],
    [
      "query id 0",
      1100,
      [0n, ALICE, { block: { header: undefined, nextBlockHeader: undefined, tx: undefined } }],
    ],
    [
      "empty sender",
      7,
      [1n, "", { block: { header: undefined, nextBlockHeader: undefined, tx: undefined } }],
    ],
    [
      "bad sender",
      7,
      [1n, "invalid_sender", { block: { header: undefined, nextBlockHeader: undefined, tx: undefined } }],
    ],
    [
      "unknown query",
      1100,
      [9n, ALICE, { block: { header: undefined, nextBlockHeader: undefined, tx: undefined } }],
    ],
  ];

  it.each(cases)("%s", (_name, code, message) => {
    const { chain } = twoQueries();
    expect(chain.deliver([submit(...message)]).code).toBe(code);
  });

  it("fail when the connection of the query is missing", () => {
    const ibc = createFakeIbc();
    const { chain } = twoQueries(ibc);
    ibc.connections.clear();
    const outcome = chain.deliver([
      submit(1n, ALICE, { block: { header: undefined, nextBlockHeader: undefined, tx: undefined } }),
    ]);
    expect(outcome.log).toContain(
      "registered query 1 has invalid connection id: connection-0: invalid connection id",
    );
  });

  it("accept a block without a transaction, which does nothing, for both query types", () => {
    const { chain } = twoQueries();
    const before = chain.world.dump("interchainqueries");
    const block = { header: undefined, nextBlockHeader: undefined, tx: undefined };
    expect(chain.deliver([submit(1n, ALICE, { block }), submit(2n, ALICE, { block })]).code).toBe(0);
    expect(chain.world.dump("interchainqueries")).toEqual(before);
  });
});

describe("removal", () => {
  it("rejects id 0, invalid senders and unknown queries", () => {
    const { chain, owner } = twoQueries();
    expect(chain.deliver([remove(0n, owner)]).code).toBe(1100);
    expect(chain.deliver([remove(1n, "")]).code).toBe(7);
    expect(chain.deliver([remove(1n, "invalid-sender")]).code).toBe(7);
    expect(chain.deliver([remove(3n, owner)]).code).toBe(1100);
  });

  it("is allowed for the owner at any time, for others after the timeout; the sender gets the deposit", () => {
    const { chain, owner } = twoQueries();
    const end = 10n + 1_036_800n;
    const early = chain.deliver([remove(1n, BOB)], { height: end });
    expect([early.code, early.codespace]).toEqual([4, "sdk"]);
    expect(early.log).toContain("only owner can remove a query within its service period: unauthorized");
    const before = chain.bank.balance(BOB);
    expect(chain.deliver([remove(1n, BOB)], { height: end + 1n }).code).toBe(0);
    expect(chain.bank.balance(BOB) - before).toBe(1_000_000n);
    expect(chain.deliver([remove(2n, owner)], { height: end + 5n }).code).toBe(0);
  });

  it("by others fails for a new query on a chain that is older than the timeout", () => {
    const chain = createIcqChain({ ibc: createFakeIbc() });
    const owner = addContract(chain, "echo");
    const params = { ...defaultParams("untrn"), querySubmitTimeout: 5n };
    expect(chain.deliver([updateParams("neutron1hxskfdxpp5hqgtjj6am6nkjefhfzj359x0ar3z", params)]).code).toBe(
      0,
    );
    chain.deliver([register({ sender: owner })], { height: 5000n });
    expect(chain.deliver([remove(1n, BOB)], { height: 5005n }).code).toBe(4);
    expect(chain.deliver([remove(1n, BOB)], { height: 5006n }).code).toBe(0);
  });

  it("by others never succeeds with a huge timeout", () => {
    const chain = createIcqChain({ ibc: createFakeIbc() });
    const owner = addContract(chain, "echo");
    const params = { ...defaultParams("untrn"), querySubmitTimeout: 2n ** 64n - 1n };
    chain.deliver([updateParams("neutron1hxskfdxpp5hqgtjj6am6nkjefhfzj359x0ar3z", params)]);
    chain.deliver([register({ sender: owner })]);
    expect(chain.deliver([remove(1n, BOB)], { height: 1_000_000n }).code).toBe(4);
    // With the profile deployed, the sums wrap around: 10 + 2^64 - 1 is 9.
    const context = chain.world.context();
    setQuery(context, { ...getQuery(context, 1n), lastSubmittedResultLocalHeight: 10n });
    const profile = profileNamed("deployed");
    expect(chain.deliver([remove(1n, BOB)], { height: 1_000_000n }).code).toBe(4);
    expect(chain.deliver([remove(1n, BOB)], { height: 9n, profile }).code).toBe(4);
    expect(chain.deliver([remove(1n, BOB)], { height: 10n, profile }).code).toBe(0);
  });

  it("emits the attributes of the specification", () => {
    const { chain, owner } = twoQueries();
    const [event] = chain.deliver([remove(2n, owner)]).events.filter(({ type }) => type === "neutron");
    expect(event?.attributes.map(({ key, value }) => `${key}=${value}`)).toEqual([
      "module=interchainqueries",
      "action=query_removed",
      "query_id=2",
      "connection_id=connection-0",
    ]);
  });

  it("emits the attributes of the registration with the profile deployed", () => {
    const { chain, owner } = twoQueries();
    const attributes = (outcome: Outcome): readonly (readonly [string, string])[] =>
      outcome.events
        .filter(({ type }) => type === "neutron")
        .flatMap((event) => event.attributes.map(({ key, value }) => [key, value] as const));
    const registered = attributes(chain.deliver([register({ sender: owner })]));
    const id = registered.find(([key]) => key === "query_id")?.[1] ?? "0";
    const removed = chain.deliver([remove(BigInt(id), owner)], { profile: profileNamed("deployed") });
    expect(registered).toHaveLength(8);
    expect(attributes(removed)).toEqual(
      registered.map(([key, value]) => [key, key === "action" ? "query_removed" : value]),
    );
  });
});

describe("MsgUpdateParams", () => {
  const params = defaultParams("untrn");

  it.each([
    ["", "undefined", 1, "authority is invalid: empty address string is not allowed"],
    ["invalid authority", "undefined", 1, "authority is invalid"],
    [
      ALICE,
      "sdk",
      18,
      `invalid authority; expected neutron1hxskfdxpp5hqgtjj6am6nkjefhfzj359x0ar3z, got ${ALICE}`,
    ],
  ])("rejects %j", (authority, codespace, code, text) => {
    const outcome = createIcqChain().deliver([updateParams(authority, params)]);
    expect([outcome.codespace, outcome.code]).toEqual([codespace, code]);
    expect(outcome.log).toContain(text);
  });

  it("does not change existing queries", () => {
    const { chain } = twoQueries();
    const before = queries.get(chain.world.context(), 1n);
    chain.deliver([
      updateParams("neutron1hxskfdxpp5hqgtjj6am6nkjefhfzj359x0ar3z", {
        ...params,
        queryDeposit: [],
        querySubmitTimeout: 0n,
      }),
    ]);
    expect(queries.get(chain.world.context(), 1n)).toEqual(before);
  });
});

function twoQueries(ibc = createFakeIbc()): { readonly chain: IcqChain; readonly owner: string } {
  const chain = createIcqChain({ ibc });
  const owner = addContract(chain, "echo");
  expect(chain.deliver([register({ sender: owner }), registerTx({ sender: owner })]).code).toBe(0);
  return { chain, owner };
}

function codeOf(work: () => void): string {
  try {
    work();
  } catch (error) {
    if (error instanceof ModuleError) return `${error.codespace}/${error.code}`;
    throw error;
  }
  return "none";
}

import { describe, expect, it } from "vitest";
import { encodeBech32, fromHex } from "../../../src/platform/base/bytes.ts";
import { createRest } from "../../../src/watchdog/sources/chain-rest.ts";
import { createPeersReader, createStandingReader } from "../../../src/watchdog/sources/standing-reader.ts";
import { createScrape } from "../../../src/watchdog/sources/page-reader.ts";
import { createSlashingReader } from "../../../src/watchdog/sources/slashing-reader.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { bodyOf } from "../../support/simulated-response.ts";

const OWN = "neutronvalcons1gpcqhylu99r9ym6t5akg4swjgj828a5gfcwdqk";
/** Recorded, with its account, from a real chain. */
const OPERATOR = "neutronvaloper1qnk2n4nlkpw9xfqntladh74w6ujtulwnqshepx";
/** Of the Ed25519 key whose bytes are all 7. */
const ROTATED = encodeBech32("neutronvalcons", fromHex("4bb06f8e4e3a7715d201d573d0aa423762e55dab"));
const SLASHING = "/cosmos/slashing/v1beta1";
const signal = new AbortController().signal;

interface Params {
  readonly signed_blocks_window: unknown;
  readonly min_signed_per_window: unknown;
  readonly downtime_jail_duration: unknown;
}

const PARAMS: Params = {
  signed_blocks_window: "100",
  min_signed_per_window: "0.500000000000000000",
  downtime_jail_duration: "600s",
};
const INFO = {
  address: OWN,
  start_height: "5",
  index_offset: "700",
  jailed_until: "1970-01-01T00:00:00Z",
  tombstoned: false,
  missed_blocks_counter: "3",
};

/** A chain whose responses a test changes: JSON, or the status of a failure. */
function createChain(responses: Record<string, unknown>, consensusAddress = OWN) {
  const requests: string[] = [];
  const clock = createManualClock(1_000_000);
  const chain = { rest: "http://chain", module: "neutron", pairs: [] };
  const rest = createRest(chain, async (url) => {
    const { pathname, searchParams } = new URL(url);
    const key = searchParams.get("pagination.key");
    const path = key === null ? pathname : `${pathname} ${key}`;
    requests.push(path);
    const response = responses[path] ?? 404;
    return typeof response === "number"
      ? { status: response, body: bodyOf("{}") }
      : { status: 200, body: bodyOf(JSON.stringify(response)) };
  });
  const target = { name: "v", nodes: [], egress: [], consensusAddress, operatorAddress: OPERATOR };
  return {
    requests,
    clock,
    slashing: createSlashingReader(target, chain, rest, clock),
    peers: createPeersReader(target, chain, rest, clock),
  };
}

const slashingPages = (params: Partial<Params> = {}, info: Partial<typeof INFO> = {}) => ({
  [`${SLASHING}/params`]: { params: { ...PARAMS, ...params } },
  [`${SLASHING}/signing_infos/${OWN}`]: { val_signing_info: { ...INFO, ...info } },
});

describe("createSlashingReader", () => {
  it("reads the parameters every ten minutes, and the signing info each time", async () => {
    const { slashing, requests, clock } = createChain(slashingPages());
    for (let poll = 0; poll < 61; poll++) {
      await slashing(signal);
      await clock.advance(10_000);
    }
    const count = (end: string) => requests.filter((path) => path.endsWith(end)).length;
    expect([count("/params"), count(OWN)]).toEqual([2, 61]);
  });

  it.each([404, 501])("asks a chain without the module (HTTP %s) once in ten minutes", async (status) => {
    const { slashing, requests, clock } = createChain({ [`${SLASHING}/params`]: status });
    for (let poll = 0; poll < 60; poll++) {
      await expect(slashing(signal)).rejects.toMatchObject({ facts: { code: "absent" } });
      await clock.advance(10_000);
    }
    expect(requests).toHaveLength(1);
  });

  it("does not remember a failure", async () => {
    const pages: Record<string, unknown> = { [`${SLASHING}/params`]: 503 };
    const { slashing } = createChain(pages);
    await expect(slashing(signal)).rejects.toThrow("HTTP 503");
    Object.assign(pages, slashingPages());
    expect(await slashing(signal)).toMatchObject({ params: { windowBlocks: 100n } });
  });

  it("has the growth of the misses from its own readings", async () => {
    const pages: Record<string, unknown> = slashingPages();
    const { slashing, clock } = createChain(pages);
    expect(await slashing(signal)).not.toHaveProperty("growth");
    await clock.advance(20_000);
    Object.assign(pages, slashingPages({}, { index_offset: "720", missed_blocks_counter: "13" }));
    expect(await slashing(signal)).toMatchObject({ growth: { missed: 10n, blocks: 20n } });
  });

  it("has the terms of a release only of a jailed validator, with a tenth more than the price", async () => {
    const staking = `/cosmos/staking/v1beta1/validators/${OPERATOR}`;
    const pages: Record<string, unknown> = {
      ...slashingPages(),
      [staking]: { validator: { jailed: true } },
      "/feemarket/v1/gas_prices": { prices: [{ denom: "untrn", amount: "0.002500000000000000" }] },
    };
    const { slashing, requests } = createChain(pages);
    const from = "neutron1qnk2n4nlkpw9xfqntladh74w6ujtulwn6dwq8z";
    expect(await slashing(signal)).toMatchObject({
      isJailed: true,
      unjail: { program: "neutrond", from, gasPrice: "0.00275untrn" },
    });
    const withoutPrice = { isJailed: true, unjail: { program: "neutrond", from } };
    for (const price of [
      404,
      500,
      { prices: [{ denom: "x; rm -rf /", amount: "1" }] },
      { prices: [] },
      "text",
    ]) {
      pages["/feemarket/v1/gas_prices"] = price;
      expect(await slashing(signal)).toEqual(expect.objectContaining(withoutPrice));
    }
    pages[staking] = { validator: { jailed: false } };
    requests.length = 0;
    expect(await slashing(signal)).not.toHaveProperty("unjail");
    expect(requests).not.toContain("/feemarket/v1/gas_prices");
  });

  it("names the address of the operator's key when it is another than the configured one", async () => {
    const key = Buffer.alloc(32, 7).toString("base64");
    const type = "/cosmos.crypto.ed25519.PubKey";
    const pages: Record<string, unknown> = slashingPages();
    const reply = async (consensus_pubkey: unknown) => {
      pages[`/cosmos/staking/v1beta1/validators/${OPERATOR}`] = {
        validator: { jailed: false, consensus_pubkey },
      };
      return slashing(signal);
    };
    const { slashing } = createChain(pages);
    expect(await reply({ "@type": type, key })).toMatchObject({ isJailed: false, rotatedTo: ROTATED });
    expect(await createChain(pages, ROTATED).slashing(signal)).not.toHaveProperty("rotatedTo");
    // It is a hint: what is not such a key is no error.
    for (const other of [
      undefined,
      "text",
      { "@type": "/cosmos.crypto.secp256k1.PubKey", key },
      { "@type": type, key: "short" },
    ]) {
      const reading = await reply(other);
      expect(reading).toMatchObject({ isJailed: false });
      expect(reading).not.toHaveProperty("rotatedTo");
    }
  });

  it.each<[string, Partial<Params>, Partial<Record<keyof typeof INFO, unknown>>, string]>([
    ["no window", { signed_blocks_window: "0" }, {}, "params.signed_blocks_window is not a number of blocks"],
    ["a window that is a text", { signed_blocks_window: "many" }, {}, "params.signed_blocks_window is not"],
    [
      "a share above 1",
      { min_signed_per_window: "1.5" },
      {},
      "params.min_signed_per_window is not a share from 0 to 1",
    ],
    [
      "a negative share",
      { min_signed_per_window: "-0.5" },
      {},
      "params.min_signed_per_window is not a non-negative decimal",
    ],
    ["the record of another validator", {}, { address: "other" }, "address is not the requested address"],
    ["negative misses", {}, { missed_blocks_counter: "-1" }, "missed_blocks_counter is not zero or more"],
    ["a height that is none", {}, { start_height: "1e3" }, "start_height is not"],
    ["a time that is none", {}, { jailed_until: "tomorrow" }, "jailed_until is not an RFC 3339 time"],
    ["a tombstone that is a text", {}, { tombstoned: "no" }, "tombstoned is not true or false"],
  ])("refuses %s, and names the field", async (_case, params, info, text) => {
    const pages = {
      [`${SLASHING}/params`]: { params: { ...PARAMS, ...params } },
      [`${SLASHING}/signing_infos/${OWN}`]: { val_signing_info: { ...INFO, ...info } },
    };
    await expect(createChain(pages).slashing(signal)).rejects.toThrow(text);
  });

  it("refuses a response that is no JSON object", async () => {
    await expect(createChain({ [`${SLASHING}/params`]: "[" }).slashing(signal)).rejects.toThrow(
      "does not come from a chain",
    );
  });
});

describe("createPeersReader", () => {
  const info = (address: string, missed: number) => ({
    ...INFO,
    address,
    missed_blocks_counter: `${missed}`,
  });
  const stats = (operator: string, blocks: number, votes: number, of = 100) => ({
    validator_info: {
      val_oper_address: operator,
      commited_blocks_in_period: `${blocks}`,
      commited_oracle_votes_in_period: `${votes}`,
      in_active_valset_for_blocks_in_period: `${of}`,
    },
  });
  const set = new Set([OWN, "a", "b", "c"]);
  const REVENUE = "/neutron/revenue/validators_stats";
  const pages = (): Record<string, unknown> => ({
    ...slashingPages(),
    [`${SLASHING}/signing_infos`]: {
      info: [info(OWN, 3), info("left", 90)],
      pagination: { next_key: "AA==", total: "4" },
    },
    [`${SLASHING}/signing_infos AA==`]: {
      info: [info("a", 0), info("b", 50)],
      pagination: { next_key: "BB==" },
    },
    [`${SLASHING}/signing_infos BB==`]: { info: [info("c", 4)], pagination: { next_key: null } },
    [REVENUE]: {
      stats: [stats(OPERATOR, 99, 70), stats("x", 100, 80), stats("y", 90, 90), stats("new", 0, 0, 0)],
    },
  });

  it("compares with all of the set, over all pages, and with all that are paid", async () => {
    const { peers, clock } = createChain(pages());
    const view = await peers(set, signal);
    expect(view).toEqual({
      atMs: clock.nowMs(),
      notes: [],
      comparisons: [
        expect.objectContaining({
          measure: "signing",
          since: "signing window",
          own: { good: 97n, total: 100n },
          rank: 2,
          compared: 4,
          notBetter: 2,
          median: { good: 96n, total: 100n },
        }),
        expect.objectContaining({
          measure: "blocks",
          since: "payment period",
          rank: 2,
          compared: 3,
          notBetter: 1,
        }),
        expect.objectContaining({ measure: "votes", own: { good: 70n, total: 100n }, rank: 3, notBetter: 0 }),
      ],
    });
  });

  it("says once of a validator that is alone that there is no other", async () => {
    const { peers } = createChain({ ...pages(), [REVENUE]: { stats: [stats(OPERATOR, 99, 70)] } });
    expect((await peers(new Set([OWN]), signal)).notes).toEqual([
      "the set has no other validator to compare this one with",
    ]);
  });

  it("reads every ten minutes", async () => {
    const { peers, requests, clock } = createChain(pages());
    const views = [];
    for (let poll = 0; poll < 61; poll++) {
      views.push((await peers(set, signal)).atMs);
      await clock.advance(10_000);
    }
    expect(requests.filter((path) => path === REVENUE)).toHaveLength(2);
    expect(new Set(views).size).toBe(2);
  });

  it("shows the last reading for an hour while no new one succeeds, and tries once a minute", async () => {
    const chain = pages();
    const { peers, requests, clock } = createChain(chain);
    const first = await peers(set, signal);
    chain[`${SLASHING}/signing_infos`] = 503;
    await clock.advance(600_000);
    requests.length = 0;
    for (let poll = 0; poll < 12; poll++) {
      expect(await peers(set, signal)).toEqual(first);
      await clock.advance(10_000);
    }
    expect(requests.filter((path) => path === `${SLASHING}/signing_infos`)).toHaveLength(2);
    await clock.advance(3_000_000);
    await expect(peers(set, signal)).rejects.toThrow("HTTP 503");
    await expect(peers(set, signal)).rejects.toThrow("HTTP 503");
  });

  it.each([
    ["the revenue module currently has no statistics", { [REVENUE]: 500 }],
    ["the chain has no paid votes for this validator", { [REVENUE]: { stats: [stats("x", 1, 1)] } }],
    [
      "the chain has no signed blocks for this validator",
      { [`${SLASHING}/signing_infos`]: { info: [info("a", 0)] } },
    ],
  ])("says why it cannot see: %s", async (note, change) => {
    const { notes } = await createChain({ ...pages(), ...change }).peers(set, signal);
    expect(notes).toContain(note);
  });

  it("refuses more votes than blocks, and a list without an end", async () => {
    const wrong = { [REVENUE]: { stats: [stats(OPERATOR, 101, 1)] } };
    await expect(createChain({ ...pages(), ...wrong }).peers(set, signal)).rejects.toThrow(
      "commited_blocks_in_period is not at most the blocks in the active set",
    );
    const endless = { info: [], pagination: { next_key: "BB==" } };
    const circle = createChain({ ...pages(), [`${SLASHING}/signing_infos BB==`]: endless });
    await expect(circle.peers(set, signal)).rejects.toThrow("more than 10000 signing infos");
    expect(circle.requests.length).toBeLessThan(25);
  });
});

describe("a set of more validators than one page has", () => {
  const addressOf = (index: number): string => encodeBech32("neutronvalcons", new Uint8Array(20).fill(index));
  const all = Array.from({ length: 140 }, (_, index) => ({
    address: index === 120 ? OWN : addressOf(index),
    voting_power: String(1_000 - index),
  }));

  /** CometBFT's pages: at most a hundred, whatever is asked for; `served` of them. */
  function createSet(served = all) {
    const heights: string[] = [];
    const clock = createManualClock(1_000_000);
    const chain = { rest: "http://chain", module: "neutron", pairs: [] };
    const rest = createRest(chain, async (url) => {
      const { pathname, searchParams } = new URL(url);
      const [limit, offset] = ["limit", "offset"].map((name) =>
        Number(searchParams.get(`pagination.${name}`) ?? 0),
      );
      const size = Math.min(limit ?? 0, 100);
      const page = Math.floor((offset ?? 0) / size);
      heights.push(pathname.split("/").at(-1) ?? "");
      const validators = served.slice(page * size, (page + 1) * size);
      const body = { block_height: "77", validators, pagination: { total: String(all.length) } };
      return { status: 200, body: bodyOf(JSON.stringify(body)) };
    });
    const reader = createStandingReader({ name: "v", nodes: [], egress: [], consensusAddress: OWN }, chain, {
      rest,
      clock,
      scrape: createScrape(1_000, clock),
    });
    return { reader, heights };
  }

  it("is read to its end, at one height", async () => {
    const { reader, heights } = createSet();
    expect((await reader?.inSet(undefined, signal))?.validator).toMatchObject({
      value: { size: 140, isInSet: true, votingPower: 880n },
    });
    expect(heights).toEqual(["latest", "77"]);
  });

  it("is an error when a part is missing, and says of nobody that they left", async () => {
    const { reader } = createSet(all.slice(0, 100));
    expect((await reader?.inSet(undefined, signal))?.validator).toMatchObject({
      state: "error",
      failure: {
        text: expect.stringContaining("validators is not all 140 of the set, of which 100 were received"),
      },
    });
  });
});

import { describe, expect, it } from "vitest";
import { DEC18_ONE, parseDec18 } from "../../../src/platform/base/decimal.ts";
import {
  createUrgency,
  type UrgencyMoment,
  type UrgencyRule,
  urgencySchema,
} from "../../../src/relayer/gas-budget/urgency.ts";
import { sampleState } from "../samples.ts";

const DAY_MS = 86_400_000;
const rule = (more: Partial<UrgencyRule> = {}): UrgencyRule => ({
  name: "liquidations",
  owners: [],
  ids: [7n],
  priority: 0,
  max_price: parseDec18("0.05"),
  max_age: undefined,
  daily_fee: undefined,
  ...more,
});
const query = (fields: Partial<ReturnType<typeof sampleState>["query"]> = {}) => ({
  ...sampleState({ id: 7n }).query,
  owner: "neutron1vault",
  lastLocalHeight: 90n,
  ...fields,
});
const at = (price: string | undefined, more: Partial<UrgencyMoment> = {}): UrgencyMoment => ({
  height: 100n,
  price: price === undefined ? undefined : parseDec18(price),
  ceiling: price === undefined ? undefined : parseDec18("0.005"),
  nowMs: 10 * DAY_MS,
  ...more,
});

describe("the greatest age of a result", () => {
  it("is the least of all rules that name the query or its owner", () => {
    const rules = [
      rule({ name: "a", max_age: 30 }),
      rule({ name: "b", ids: [], owners: ["neutron1vault"], max_age: 20 }),
      rule({ name: "c", ids: [8n], max_age: 10 }),
      rule({ name: "d" }),
    ];
    const { maxAgeOf } = createUrgency(rules, DEC18_ONE);
    expect(maxAgeOf(query())).toBe(20n);
    expect(maxAgeOf(query({ owner: "neutron1other" }))).toBe(30n);
    expect(maxAgeOf(query({ id: 9n, owner: "neutron1other" }))).toBeUndefined();
    expect(createUrgency([rule()], DEC18_ONE).maxAgeOf(query())).toBeUndefined();
  });
});

describe("a rule of urgency", () => {
  it("is applied above the ceiling, up to its own price, to its ids and owners", () => {
    const urgency = createUrgency([rule()], DEC18_ONE);
    const found = (price: string | undefined) => urgency.ruleOf(query(), at(price))?.name;
    expect([found("0.005"), found("0.0051"), found("0.05"), found("0.0501"), found(undefined)]).toEqual([
      undefined,
      "liquidations",
      "liquidations",
      undefined,
      undefined,
    ]);
    expect(urgency.ruleOf(query({ id: 8n }), at("0.01"))).toBeUndefined();
    const ofOwner = createUrgency([rule({ ids: [], owners: ["neutron1vault"] })], DEC18_ONE);
    expect(ofOwner.ruleOf(query({ id: 8n }), at("0.01"))?.name).toBe("liquidations");
    expect(ofOwner.ruleOf(query({ owner: "neutron1other" }), at("0.01"))).toBeUndefined();
  });

  it("without a price of its own ends at gas.max_price", () => {
    const urgency = createUrgency([rule({ max_price: undefined })], parseDec18("0.02"));
    expect(urgency.ruleOf(query(), at("0.02"))).toBeDefined();
    expect(urgency.ruleOf(query(), at("0.021"))).toBeUndefined();
  });

  it("with an age is applied at any price up to its own, once the last result is that old", () => {
    const urgency = createUrgency([rule({ max_age: 10 })], DEC18_ONE);
    expect(urgency.ruleOf(query(), at("0.0025"))).toBeDefined();
    expect(urgency.ruleOf(query(), at(undefined))).toBeDefined();
    expect(urgency.ruleOf(query({ lastLocalHeight: 91n }), at("0.01"))).toBeUndefined();
    expect(urgency.ruleOf(query(), at("0.06"))).toBeUndefined();
    // Without a result, the age is that of the registration.
    expect(
      urgency.ruleOf(query({ lastLocalHeight: 0n, registeredAtHeight: 91n }), at("0.01")),
    ).toBeUndefined();
    expect(urgency.ruleOf(query({ lastLocalHeight: 0n, registeredAtHeight: 90n }), at("0.01"))).toBeDefined();
  });

  it("of the highest priority is taken, and none whose budget is used up until the next UTC day", () => {
    const rules = [rule(), rule({ name: "second", priority: 5, ids: [], owners: ["neutron1vault"] })];
    const urgency = createUrgency(rules, DEC18_ONE);
    const name = (nowMs: number) => urgency.ruleOf(query(), at("0.01", { nowMs }))?.name;
    expect(name(10 * DAY_MS)).toBe("second");
    urgency.markUsedUp("second", 10 * DAY_MS + 5);
    expect([name(11 * DAY_MS - 1), name(11 * DAY_MS)]).toEqual(["liquidations", "second"]);
  });
});

describe("the configuration of urgency", () => {
  const parse = (rules: unknown) => urgencySchema().safeParse(rules);
  const given = { name: "liquidations", owners: ["neutron1vault"] };

  it("has no rules by default, and no limits of a rule", () => {
    expect(urgencySchema().parse(undefined)).toEqual([]);
    expect(parse([given]).data).toEqual([{ ...given, ids: [], priority: 0 }]);
    const whole = { ...given, ids: ["7"], priority: 3, max_price: "0.05", max_age: 20, daily_fee: "5000000" };
    expect(parse([whole]).data).toEqual([
      { ...whole, ids: [7n], max_price: parseDec18("0.05"), daily_fee: 5_000_000n },
    ]);
  });

  it.each([
    ["a rule for no query", [{ name: "a" }]],
    ["a name twice", [given, given]],
    ["a name that is no label", [{ ...given, name: "A b" }]],
    ["an age of 0", [{ ...given, max_age: 0 }]],
    ["a price of 0", [{ ...given, max_price: "0" }]],
    ["an unknown key", [{ ...given, price: "1" }]],
    ["an id as a number", [{ name: "a", ids: [7] }]],
  ])("refuses %s", (_what, rules) => {
    expect(parse(rules).success).toBe(false);
  });
});

import { z } from "zod";
import type { Dec18 } from "../../platform/base/decimal.ts";
import { DAY_MS } from "../../platform/base/time.ts";
import { amountField, decimalField, issueText } from "../../platform/config/config-fields.ts";
import type { RegisteredQuery } from "../chain/registered-query.ts";

/** Returns the schema of the setting `urgency`, which lists the queries that justify a higher price. */
export function urgencySchema() {
  return z
    .array(ruleSchema())
    .max(100)
    .refine((rules) => new Set(rules.map(({ name }) => name)).size === rules.length, {
      error: issueText("has a duplicate name", "a unique name for each rule"),
    })
    .default([]);
}

function ruleSchema() {
  return z
    .strictObject({
      name: z
        .string()
        .regex(/^[a-z0-9][a-z0-9-]{0,39}$/)
        .describe("the rule's name in metrics and logs")
        .meta({ example: "liquidations" }),
      owners: z
        .array(z.string().min(1))
        .max(1_000)
        .default([])
        .describe("the addresses of the contracts whose queries the rule covers"),
      ids: z
        .array(amountField())
        .max(10_000)
        .default([])
        .describe("the ids of the queries that the rule covers, in quotes"),
      priority: z
        .int()
        .min(0)
        .max(1_000)
        .default(0)
        .describe(
          "priority of the rule's results among urgent results. The relayer sends results with the highest priority first",
        ),
      max_price: decimalField()
        .optional()
        .describe("gas price up to which the rule applies; default: gas.max_price")
        .meta({ example: "0.05", commentedOut: true }),
      max_age: z
        .int()
        .min(1)
        .max(1_000_000)
        .optional()
        .describe(
          "age of a query's last result, in local blocks, at which the next result becomes urgent at any price up to max_price; default: a due result is urgent if the price is above gas.price.comfortable",
        )
        .meta({ example: 20, commentedOut: true }),
      daily_fee: amountField()
        .optional()
        .describe(
          "separate limit for the fees of the rule's urgent results per UTC day. With a separate limit, these fees do not count toward spending.daily_fee; default: no separate limit",
        )
        .meta({ example: "5000000", commentedOut: true }),
    })
    .refine(({ owners, ids }) => owners.length + ids.length > 0, {
      path: ["owners"],
      error: issueText(
        "is empty, as is ids",
        "at least one owner or id; otherwise the rule applies to no query",
      ),
    });
}

export type UrgencyRule = z.output<ReturnType<typeof ruleSchema>>;

/** The facts that determine whether a result is urgent. */
export interface UrgencyMoment {
  readonly height: bigint;
  /** Price of the next block; undefined without a fee market. */
  readonly price: Dec18 | undefined;
  /** Price above which the relayer sends only urgent results; undefined without a fee market. */
  readonly ceiling: Dec18 | undefined;
  /** Current time, as Unix time in ms. */
  readonly nowMs: number;
}

/** Decides which results justify a higher price. */
export type Urgency = ReturnType<typeof createUrgency>;

/** Creates an {@link Urgency} from the rules. `maxPrice` is the setting `gas.max_price`. */
export function createUrgency(rules: readonly UrgencyRule[], maxPrice: Dec18) {
  const sorted = rules.toSorted((a, b) => b.priority - a.priority);
  const byId = new Map<bigint, UrgencyRule[]>();
  const byOwner = new Map<string, UrgencyRule[]>();
  for (const rule of sorted) {
    for (const id of rule.ids) byId.set(id, [...(byId.get(id) ?? []), rule]);
    for (const owner of rule.owners) byOwner.set(owner, [...(byOwner.get(owner) ?? []), rule]);
  }
  /** The UTC day on which each rule's budget was used up, by rule name. */
  const usedUp = new Map<string, number>();
  const rulesOf = ({ id, owner }: RegisteredQuery): readonly UrgencyRule[] => [
    ...(byId.get(id) ?? []),
    ...(byOwner.get(owner) ?? []),
  ];
  const applies = (rule: UrgencyRule, query: RegisteredQuery, now: UrgencyMoment): boolean => {
    if (usedUp.get(rule.name) === dayOf(now.nowMs)) return false;
    if (now.price !== undefined && now.price > (rule.max_price ?? maxPrice)) return false;
    if (rule.max_age === undefined)
      return now.price !== undefined && now.ceiling !== undefined && now.price > now.ceiling;
    return now.height - lastAnswerOf(query) >= BigInt(rule.max_age);
  };
  return {
    hasRules: rules.length > 0,
    /** Returns the rule with the highest priority that makes a query's next result urgent now; undefined if there is none. */
    ruleOf: (query: RegisteredQuery, now: UrgencyMoment): UrgencyRule | undefined => {
      const [first, ...others] = rulesOf(query).filter((rule) => applies(rule, query, now));
      return others.reduce((best, rule) => (best && rule.priority > best.priority ? rule : best), first);
    },
    /** Returns the lowest `max_age` among a query's rules, in local blocks; undefined if no rule sets `max_age`. */
    maxAgeOf: (query: RegisteredQuery): bigint | undefined => {
      const ages = rulesOf(query).flatMap(({ max_age }) => max_age ?? []);
      return ages.length === 0 ? undefined : BigInt(Math.min(...ages));
    },
    /** Suspends a rule until the next UTC day, because its budget is used up. */
    markUsedUp: (name: string, nowMs: number): void => void usedUp.set(name, dayOf(nowMs)),
  };
}

/** Returns the local height of a query's last result, or of its registration if it has no result yet. */
function lastAnswerOf({ lastLocalHeight, registeredAtHeight }: RegisteredQuery): bigint {
  return lastLocalHeight === 0n ? registeredAtHeight : lastLocalHeight;
}

function dayOf(nowMs: number): number {
  return Math.floor(nowMs / DAY_MS);
}

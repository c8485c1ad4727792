import { describe, expect, it } from "vitest";
import { parseDec18 } from "../../../src/platform/base/decimal.ts";
import type { CostsView } from "../../../src/relayer/costs/create-costs.ts";
import { spendingSection } from "../../../src/relayer/page/cost-section.ts";
import { sampleCosts } from "../costs/cost-samples.ts";

/** 2027-01-15T08:00:00Z */
const NOW = 1_800_000_000_000;
const html = (more: Partial<CostsView> = {}): string => spendingSection(sampleCosts(NOW, more), NOW).text;
const text = (more: Partial<CostsView> = {}): string =>
  html(more)
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll(/\s+/g, " ");
const payer = sampleCosts(NOW).payer;
const grant = (fields: object) => ({
  payer: {
    ...payer,
    signer: "neutron1signer",
    grant: {
      isRead: true,
      error: undefined,
      allowance: {
        type: "BasicAllowance",
        left: 5_000_000n,
        isKnown: true,
        expiresAtMs: undefined,
        period: undefined,
        ...fields,
      },
    },
  },
});

describe("the spending on the page", () => {
  it("says who pays, what is left, and what was paid in each window", () => {
    const page = text();
    expect(page).toContain(
      "The relayer&#39;s own account neutron1payer pays. It has 250 NTRN (250 000 000 untrn).",
    );
    expect(page).toContain(
      "Last hour 2027-01-15 07:05 5.500001 NTRN (5 500 001 untrn) 1.375 0.03 30 0.183333 each",
    );
    expect(page).toContain("Nothing comes back");
  });

  it("names owners by the label of their contract, escaped, and what the month will cost them", () => {
    expect(html()).toContain(
      '<small title="creator neutron1creator admin neutron1dao">Lending &lt;market&gt;</small>',
    );
    expect(text()).toMatch(/neutron1owner Lending &lt;market&gt; 5 5 5 5 5 150 135 to 165 2 /);
    expect(text()).toContain("neutron1other 0.500001 0.500001 0.500001 0.500001 0.500001 20 18 to 22 1 ");
  });

  it("knows nothing before the first read, and says why sums may be incomplete", () => {
    const unread = text({ readAtMs: undefined, windows: [], forecast: undefined });
    expect(unread).toContain("? not known yet The costs have not been read yet.");
    expect(unread).not.toContain("exact");
    expect(text({ incomplete: "transaction indexing is disabled" })).toContain(
      "! may be incomplete transaction indexing is disabled.",
    );
  });

  it("marks a window that began before the sums", () => {
    const windows = sampleCosts(NOW).windows.map((window) => ({ ...window, coveredFromMs: NOW - 60_000 }));
    expect(text({ windows })).toContain("2027-01-15 07:59, known only since then");
  });

  it("compares the month with its budget", () => {
    expect(text()).toContain("No budget is set");
    expect(text({ budget: 1_000_000_000n })).toContain(
      "✓ fine Within the budget of 1 000 NTRN (1 000 000 000 untrn) a month.",
    );
    expect(text({ budget: 100_000_000n })).toContain(
      "! will be exceeded Over budget by forecast: the month will cost more than 100 NTRN",
    );
    expect(text({ budget: 5_000_000n })).toContain(
      "✕ spent Over budget: more than 5 NTRN (5 000 000 untrn) was paid this month.",
    );
  });

  it("has the forecast at both prices with its width, and when the account is empty", () => {
    const page = text();
    expect(page).toContain(
      "from the last hours (5 a day), the last days (6 a day), ± 12 % for the spread of the hours. 1 new query, 0 queries gone.",
    );
    expect(page).toContain("present 5.5 (4.95 to 6.05) 170 (153 to 187) 45 d (41 d to 50 d)");
    expect(page).toContain("gas.max_price 2 200 (1 980 to 2 420)");
    expect(page).toContain("! soon 2 h 43 min (2 h 30 min to 3 h 3 min)");
    expect(text({ forecast: undefined })).toContain("None yet: the relayer must run for ten minutes first.");
  });

  it("shows what is left of a fee grant", () => {
    expect(text(grant({}))).toContain(
      "neutron1payer pays, by a fee grant to neutron1signer. It has 250 NTRN",
    );
    expect(text(grant({}))).toContain("The fee grant has 5 NTRN (5 000 000 untrn) left.");
    const period = { ms: 86_400_000, limit: 9_000_000n, left: 2_000_000n, resetAtMs: undefined };
    expect(text(grant({ left: undefined, period, expiresAtMs: NOW + 7_200_000 }))).toContain(
      "The fee grant has no total limit, until 2027-01-15 10:00 UTC; of the present period (1 d), 2 NTRN (2 000 000 untrn) of 9 NTRN (9 000 000 untrn).",
    );
    expect(text(grant({}))).not.toContain("pays nothing");
    for (const over of [{ expiresAtMs: NOW - 1_000 }, { left: 0n }])
      expect(text(grant(over))).toContain("✕ the fee grant pays nothing neutron1payer pays");
    expect(text(grant({ expiresAtMs: NOW - 60_000 }))).toContain("left, and ended at 2027-01-15 07:59 UTC.");
    expect(text(grant({ type: "OtherAllowance", isKnown: false, left: undefined }))).toContain(
      "? not known neutron1payer pays, by a fee grant to neutron1signer. It has 250 NTRN (250 000 000 untrn). What is left of the fee grant is not known: OtherAllowance.",
    );
    const none = { ...payer, grant: { isRead: true, error: undefined, allowance: undefined } };
    expect(text({ payer: none })).toContain(
      "✕ the fee grant pays nothing neutron1payer pays, by a fee grant to neutron1payer. It has 250 NTRN (250 000 000 untrn). There is no such fee grant.",
    );
    const unread = { ...payer, grant: { isRead: false, error: "no response", allowance: undefined } };
    expect(text({ payer: unread })).toContain("The fee grant is not known: no response.");
  });

  it("has base units alone without a display unit, and the value with a price", () => {
    expect(text({ unit: undefined })).toContain("It has 250 000 000 untrn.");
    const price = { currency: "USD", perUnit: parseDec18("0.35") };
    const unit = { denom: "untrn", name: "NTRN", exponent: 6, price };
    expect(text({ unit })).toContain("250 NTRN (250 000 000 untrn, 87.50 USD)");
  });

  it("has what each query cost in 24 hours, the most expensive first", () => {
    expect(text()).toMatch(
      /query owner last hour .* results light clients failed transactions a result 1 neutron1owner/,
    );
    expect(text()).toContain(
      " 2 neutron1owner Lending &lt;market&gt; 1 1 1 1 1 10 0.25 0.03 0.1 3 neutron1other ",
    );
  });
});

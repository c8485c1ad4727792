import { describe, expect, it } from "vitest";
import { parseDec18 } from "../../../src/platform/base/decimal.ts";
import type { CostsView } from "../../../src/relayer/costs/create-costs.ts";
import { spendingSection } from "../../../src/relayer/page/spending-section.ts";
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
    expect(page).toContain("Who pays its own account the relayer's own account neutron1payer");
    expect(page).toContain("Left in the account 250 NTRN (250 000 000 untrn)");
    expect(page).toContain("Paid, last hour 5.500001 NTRN (5 500 001 untrn)");
    expect(page).toContain("failed transactions 0.03");
    expect(page).toContain("Nothing comes back");
  });

  it("names owners by the label of their contract, escaped, and what the month will cost them", () => {
    expect(html()).toContain(
      '<small title="creator neutron1creator admin neutron1dao">Lending &lt;market&gt;</small>',
    );
    expect(text()).toMatch(/neutron1owner Lending &lt;market&gt; 2 5 5 5 5 5 150 135 to 165/);
    expect(text()).toContain("neutron1other 1 0.500001");
  });

  it("knows nothing before the first read, and says why sums may be incomplete", () => {
    const unread = text({ readAtMs: undefined, windows: [], forecast: undefined });
    expect(unread).toContain("? not known yet The costs were not read yet.");
    expect(unread).not.toContain("exact");
    expect(text({ incomplete: "transaction indexing is disabled" })).toContain(
      "! may be incomplete transaction indexing is disabled.",
    );
  });

  it("marks a window that began before the sums", () => {
    const windows = sampleCosts(NOW).windows.map((window) => ({ ...window, coveredFromMs: NOW - 60_000 }));
    expect(text({ windows })).toContain("known only since 2027-01-15 07:59");
  });

  it("compares the month with its budget", () => {
    expect(text()).toContain("No budget is set");
    expect(text({ budget: 1_000_000_000n })).toContain(
      "✓ within the budget of 1 000 NTRN (1 000 000 000 untrn) a month.",
    );
    expect(text({ budget: 100_000_000n })).toContain(
      "! over budget by forecast The month will cost more than 100 NTRN",
    );
    expect(text({ budget: 5_000_000n })).toContain(
      "✕ over budget More than 5 NTRN (5 000 000 untrn) was paid this month.",
    );
  });

  it("has the forecast at both prices with its width, and when the account is empty", () => {
    const page = text();
    expect(page).toContain("± 12 % for the spread of the hours. Of the queries: 1 new query by rate");
    expect(page).toContain("at the present gas price 5.5 4.95 to 6.05 170 153 to 187 in 45 d 41 d to 50 d");
    expect(page).toContain("at gas.max_price 2 200");
    expect(page).toContain("! in 2 h 43 min");
    expect(text({ forecast: undefined })).toContain("A forecast needs ten minutes of running.");
  });

  it("shows what is left of a fee grant", () => {
    expect(text(grant({}))).toContain(
      "Who pays a fee granter neutron1payer , by a fee grant to neutron1signer",
    );
    expect(text(grant({}))).toContain("Left of the fee grant 5 NTRN (5 000 000 untrn) it does not end");
    const period = { ms: 86_400_000, limit: 9_000_000n, left: 2_000_000n, resetAtMs: undefined };
    expect(text(grant({ left: undefined, period, expiresAtMs: NOW + 7_200_000 }))).toContain(
      "no limit in all it ends in 2 h; 2 NTRN (2 000 000 untrn) of 9 NTRN (9 000 000 untrn) for 1 d",
    );
    expect(html(grant({ expiresAtMs: NOW - 1_000 }))).toContain('<dd class="bad">5 NTRN');
    expect(text(grant({ type: "OtherAllowance", isKnown: false, left: undefined }))).toContain(
      "not known: OtherAllowance",
    );
    const none = { ...payer, grant: { isRead: true, error: undefined, allowance: undefined } };
    expect(text({ payer: none })).toContain("there is no such grant");
    const unread = { ...payer, grant: { isRead: false, error: "no response", allowance: undefined } };
    expect(text({ payer: unread })).toContain("Left of the fee grant not known yet no response");
  });

  it("has base units alone without a display unit, and the value with a price", () => {
    expect(text({ unit: undefined })).toContain("Left in the account 250 000 000 untrn");
    const price = { currency: "USD", perUnit: parseDec18("0.35") };
    const unit = { denom: "untrn", name: "NTRN", exponent: 6, price };
    expect(text({ unit })).toContain("250 NTRN (250 000 000 untrn, 87.50 USD)");
  });
});

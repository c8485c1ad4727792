import { counted } from "../../platform/base/text.ts";
import { type Html, html } from "../../platform/web/html.ts";
import { badge, type Column, dataTable, type Fact, grouped } from "../../platform/web/parts.ts";
import type { RelayerStatus } from "../api/status.ts";
import { namedOwners } from "../gate/spending.ts";

/** Owners on the page: those with the most gas. */
const SHOWN = 10;

/** The fees of today against their limit. */
export function spendingFact({ spending: { fee, limits }, reserve, account }: RelayerStatus): Fact {
  const { dailyFee } = limits;
  const isUsedUp = dailyFee !== undefined && fee >= dailyFee;
  return {
    name: "Fees today (UTC)",
    value: `${grouped(fee)}${ofLimit(dailyFee)} ${account.denom}`,
    detail: `${isUsedUp ? "the limit is reached; " : ""}reserve ${grouped(reserve)}`,
    tone: isUsedUp ? "bad" : undefined,
  };
}

/** The gas of today by owner, with the budget of each; closed until someone opens it. */
export function spendingSection({ spending: { gasByOwner, limits } }: RelayerStatus): Html {
  const { dailyGasPerOwner: limit } = limits;
  const owners = namedOwners(gasByOwner);
  const isUsedUp = (gas: bigint): boolean => limit !== undefined && gas >= limit;
  const over = owners.filter(([, gas]) => isUsedUp(gas)).length;
  const columns: readonly Column<readonly [string, bigint]>[] = [
    { name: "owner", cell: ([owner]) => html`<code>${owner}</code>` },
    { name: "gas today", isNumber: true, cell: ([, gas]) => `${grouped(gas)}${ofLimit(limit)}` },
    {
      name: "budget",
      cell: ([, gas]) =>
        isUsedUp(gas) ? badge("bad", "used up") : limit === undefined ? "none" : badge("good", "left"),
    },
  ];
  const title = `${counted(owners.length, "owner")} with gas today, ${over === 0 ? "no budget" : counted(over, "budget")} used up`;
  const rest = owners.length - SHOWN;
  return html`<h2>Spending</h2><details id="spending-list"><summary>${title}</summary>${dataTable({
    caption: "Gas of today (UTC) by owner of the queries, the greatest first",
    columns,
    rows: owners.slice(0, SHOWN),
  })}${rest > 0 && html`<p>${counted(rest, "more owner")} in <a href="/api/status">JSON</a>.</p>`}</details>`;
}

function ofLimit(limit: bigint | undefined): string {
  return limit === undefined ? "" : ` of ${grouped(limit)}`;
}

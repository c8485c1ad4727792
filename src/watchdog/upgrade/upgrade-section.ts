import { html, type Html } from "../../platform/web/html.ts";
import { countdownText, type UpgradeCountdown } from "./upgrade-plan.ts";

/** The planned upgrade of the chain. `nowMs`: the time of the page. Texts of the plan are escaped. */
export function upgradeSection(upgrade: UpgradeCountdown, nowMs: number): Html {
  const { plan } = upgrade;
  return html`<h3>Upgrade of the chain</h3><p>${countdownText(upgrade, nowMs)}.${
    plan.info !== "" && html`<br><small class="muted">The plan says: ${plan.info}</small>`
  }</p>`;
}

import type { Campaign, CampaignRun } from "./campaign.ts";
import { fuzzTransactions } from "./chain/transactions.ts";
import { fuzzModules } from "./contracts/modules.ts";
import { fuzzPointers } from "./contracts/pointers.ts";
import { fuzzRelayer, fuzzRelayerBesideAnother, fuzzRelayerSkipping } from "./relayer/campaign.ts";
import { SERVER_CAMPAIGNS } from "./servers/campaigns.ts";
import { fuzzClocks } from "./watchdog/clocks.ts";
import { fuzzMixedPages } from "./watchdog/mixed-pages.ts";
import { fuzzPages } from "./watchdog/pages.ts";

const atLeast =
  (minInputs: number) =>
  (run: CampaignRun): Campaign => ({ run, minInputs });
/** An input is some minutes of a relayer. */
const simulation = atLeast(1);
/** The servers' memory is compared from the 400th input on, that of the watchdog from the 200th. */
const stream = atLeast(1_000);

/** All campaigns by name. `npm run fuzz` runs them for a long time, `campaigns.test.ts` with their least number of inputs. */
export const CAMPAIGNS: Readonly<Record<string, Campaign>> = {
  clocks: atLeast(30)(fuzzClocks),
  contracts: stream(fuzzModules),
  "contract-pointers": atLeast(2_000)(fuzzPointers),
  "mixed-pages": atLeast(200)(fuzzMixedPages),
  pages: atLeast(500)(fuzzPages),
  relayer: simulation(fuzzRelayer),
  "relayer-beside-another": simulation(fuzzRelayerBesideAnother),
  "relayer-skipping": simulation(fuzzRelayerSkipping),
  transactions: stream(fuzzTransactions),
  ...Object.fromEntries(Object.entries(SERVER_CAMPAIGNS).map(([name, run]) => [name, stream(run)])),
};

import type { Campaign } from "./campaign.ts";
import { fuzzTransactions } from "./chain/transactions.ts";
import { fuzzRelayer, fuzzRelayerBesideAnother, fuzzRelayerSkipping } from "./relayer/campaign.ts";
import { SERVER_CAMPAIGNS } from "./servers/campaigns.ts";
import { fuzzPages } from "./watchdog/pages.ts";

/** All campaigns by name. `npm run fuzz` runs them for a long time, `campaigns.test.ts` for a few thousand inputs each. */
export const CAMPAIGNS: Readonly<Record<string, Campaign>> = {
  pages: fuzzPages,
  relayer: fuzzRelayer,
  "relayer-beside-another": fuzzRelayerBesideAnother,
  "relayer-skipping": fuzzRelayerSkipping,
  transactions: fuzzTransactions,
  ...SERVER_CAMPAIGNS,
};

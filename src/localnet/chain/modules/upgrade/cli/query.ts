import { query, queryCommands } from "../../../../cli/module-query.ts";

/** `relaywatch query upgrade`. Names are those of a Cosmos SDK binary. */
export const queryUpgradeCommand = queryCommands({
  service: "cosmos.upgrade.v1beta1.Query",
  fields: { name: "<name> name of the upgrade" },
  queries: {
    plan: query("CurrentPlan", "print the planned upgrade", "NAME name, HEIGHT height, INFO info"),
    applied: query("AppliedPlan", "print the height of an upgrade", "HEIGHT"),
    authority: query("Authority", "print the account that plans upgrades", "ADDRESS"),
  },
});

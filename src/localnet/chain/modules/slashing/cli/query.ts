import { query, queryCommands } from "../../../../cli/module-query.ts";

const SIGNING = `CONSENSUS ADDRESS address, SINCE start_height, MISSED missed_blocks_counter,
      JAILED UNTIL jailed_until, TOMBSTONED tombstoned`;

/** `relaywatch query slashing`. Names are those of a Cosmos SDK binary. */
export const querySlashingCommand = queryCommands({
  service: "cosmos.slashing.v1beta1.Query",
  fields: { cons_address: "<consensus-address> address of the validator's consensus key" },
  queries: {
    params: query("Params", "print the module's parameters"),
    "signing-info": query("SigningInfo", "print what a validator missed, and how long it is jailed", SIGNING),
    "signing-infos": query("SigningInfos", "list what the validators missed, and how long they are jailed", {
      columns: SIGNING,
    }),
  },
});

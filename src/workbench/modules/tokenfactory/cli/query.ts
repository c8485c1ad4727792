import { query, queryCommands } from "../../../../localnet/cli/module-query.ts";

/** `relaywatch query tokenfactory`. */
export const queryTokenFactoryCommand = queryCommands({
  service: "osmosis.tokenfactory.v1beta1.Query",
  fields: {
    creator: "<creator> address of the denomination's creator",
    subdenom: "<subdenom> last part of the denomination",
  },
  queries: {
    params: query("Params", "print fee and gas of a new denomination, and allowed hooks"),
    "denom-authority-metadata": query("DenomAuthorityMetadata", "print the admin of a denomination", {
      columns: "ADMIN Admin",
    }),
    "denoms-from-creator": query("DenomsFromCreator", "list the denominations that an account created", {
      columns: "DENOM",
    }),
    "before-send-hook": query(
      "BeforeSendHookAddress",
      "print the contract that is called before payments of a denomination",
      "CONTRACT",
    ),
    "full-denom": query("FullDenom", "print the full name of a denomination", "DENOM"),
  },
});

import { InvalidArgumentError, Option } from "commander";
import { message, messageCommands } from "../../../../cli/module-tx.ts";

/** `relaywatch tx upgrade`. Names are those of a Cosmos SDK binary. */
export const txUpgradeCommand = messageCommands({
  service: "cosmos.upgrade.v1beta1.Msg",
  fields: {
    name: "<name> name of the upgrade",
    height: ["<height> height of the upgrade", parseHeight],
  },
  messages: {
    "software-upgrade": message("SoftwareUpgrade", "plan an upgrade; replaces the plan before", {
      takes: ["plan.name", "plan.height"],
      options: { "plan.info": () => new Option("--info <text>", "anything about the upgrade").default("") },
    }),
    "cancel-software-upgrade": message("CancelUpgrade", "drop the planned upgrade"),
  },
});

function parseHeight(text: string): string {
  if (/^[1-9]\d{0,17}$/.test(text)) return text;
  throw new InvalidArgumentError("a height above zero was expected");
}

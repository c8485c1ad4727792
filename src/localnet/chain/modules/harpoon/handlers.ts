import type { MsgManageHookSubscription } from "../../../../cosmos/proto/gen/neutron/harpoon/tx.ts";
import type { Context } from "../../runtime/context.ts";
import { ErrInvalidAddress } from "../../runtime/errors.ts";
import { ErrInvalidSigner } from "./errors.ts";
import { validateManageHookSubscription } from "./messages.ts";
import { replaceSubscriptions } from "./subscriptions.ts";
import type { Environment } from "./types.ts";

/**
 * MsgManageHookSubscription (chain-extension-modules.md, "Hook subscription module"), from the authority only. As in Go,
 * the contract is checked before the authority.
 */
export function manageHookSubscription(
  context: Context,
  message: MsgManageHookSubscription,
  { authority, bech32Prefix, contracts }: Environment,
): void {
  const { contractAddress, hooks } = validateManageHookSubscription(message, bech32Prefix);
  if (!contracts.isContract(context, contractAddress))
    throw ErrInvalidAddress(`contract address not found: ${contractAddress}`);
  if (message.authority !== authority)
    throw ErrInvalidSigner(`invalid authority; expected ${authority}, got ${message.authority}`);
  replaceSubscriptions(context, contractAddress, hooks);
}

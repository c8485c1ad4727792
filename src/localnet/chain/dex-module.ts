import type { BankKeeper } from "./modules/bank/keeper.ts";
import { createDexModule } from "./modules/dex/module.ts";
import { formatAddress } from "./runtime/address.ts";
import type { ChainModule } from "./runtime/module.ts";
import { ErrUnauthorized } from "./runtime/errors.ts";

/** Creates the exchange. As the bank module does for messages, it refuses to pay to accounts of modules. */
export function dexModule(
  names: {
    readonly chainName: string;
    readonly bech32Prefix: string;
    readonly authority: string;
    readonly denom: string;
  },
  bank: BankKeeper,
): ChainModule {
  const requireOpen = (address: Uint8Array): void => {
    if (!bank.isBlocked(address)) return;
    throw ErrUnauthorized(`${formatAddress(names.bech32Prefix, address)} is not allowed to receive funds`);
  };
  return createDexModule(names, {
    bank: {
      balance: (context, address, denom) => bank.balance(context, address, denom).amount,
      supply: bank.supply,
      sendToDex: (context, from, coins) => bank.sendToModule(context, from, "dex", coins),
      sendFromDex: (context, to, coins) => {
        requireOpen(to);
        bank.sendFromModule(context, "dex", to, coins);
      },
      mint: (context, coins) => bank.mint(context, "dex", coins),
      burn: (context, coins) => bank.burn(context, "dex", coins),
    },
    balances: {
      balances: bank.balances,
      holdings: function* (context, denom) {
        for (const address of bank.holders(context, denom))
          yield bank.balance(context, address, denom).amount;
      },
    },
  });
}

import { formatAddress } from "../../../localnet/chain/runtime/address.ts";
import type { Coin } from "../../../localnet/chain/runtime/coins.ts";
import type { Context } from "../../../localnet/chain/runtime/context.ts";
import { ChainPanic, ModuleError, wrapErrors } from "../../../localnet/chain/runtime/errors.ts";
import { createGasMeter } from "../../../localnet/chain/runtime/gas.ts";
import type { BankHooks, Transfer } from "../../../localnet/chain/modules/bank/keeper.ts";
import { creatorOf, ErrBeforeSendHookNotWhitelisted, ErrTrackBeforeSendOutOfGas } from "./denom.ts";
import { beforeSendHook, type Keepers, moduleParams, parseAccount } from "./keeper.ts";

/** Gas limit of a `track_before_send` call, whose failure does not block the payment. */
const TRACK_GAS_LIMIT = 500_000n;

/** Calls the hook contracts of a payment's denominations before the payment (x/tokenfactory v6.0.3 keeper/before_send.go). */
export function createBankHooks(keepers: Keepers): BankHooks {
  return {
    // `block_before_send` calls use the payment's gas, and the payment fails if a contract fails.
    block: (context, transfer, coins) =>
      eachHook(context, coins, keepers, (coin, contract) =>
        sudo(context, { transfer, coin, contract }, "block_before_send", keepers),
      ),
    // Each `track_before_send` call has its own gas limit, and the payment is charged for a call's gas only if the call succeeds.
    track: (context, transfer, coins) => {
      try {
        eachHook(context, coins, keepers, (coin, contract) => {
          const meter = createGasMeter(TRACK_GAS_LIMIT);
          sudo(context.withGas(meter), { transfer, coin, contract }, "track_before_send", keepers);
          context.gas.consume(meter.used(), "track before send gas");
        });
      } catch (error) {
        // A tracking contract's failure must not block payments. The contract's writes before the failure are kept.
        if (!(error instanceof ModuleError)) throw error;
      }
    },
  };
}

/** Calls the hook of each coin that has one. As in Go, a panic becomes an error, for example if gas runs out. */
function eachHook(
  context: Context,
  coins: readonly Coin[],
  keepers: Keepers,
  call: (coin: Coin, contract: string) => void,
): void {
  try {
    for (const coin of coins) {
      const contract = beforeSendHook(context, coin.denom);
      if (contract !== "" && isWhitelisted(context, coin.denom, contract, keepers)) call(coin, contract);
    }
  } catch (error) {
    throw error instanceof ChainPanic ? ErrTrackBeforeSendOutOfGas() : error;
  }
}

/** Returns true if the params still allow the code of a hook. Other hooks are skipped, so that they cannot block payments. */
function isWhitelisted(context: Context, denom: string, contract: string, keepers: Keepers): boolean {
  try {
    requireWhitelisted(context, denom, parseAccount(contract, keepers.bech32Prefix), keepers);
    return true;
  } catch (error) {
    if (!(error instanceof ModuleError) || error instanceof ChainPanic) throw error;
    return false;
  }
}

/** Throws tokenfactory/14 unless the params allow hooks with this contract's code for the denomination's creator. */
export function requireWhitelisted(
  context: Context,
  denom: string,
  contract: Uint8Array,
  { bech32Prefix, contracts }: Keepers,
): void {
  const codeId = contracts.codeOf(context, contract);
  if (codeId === undefined)
    throw ErrBeforeSendHookNotWhitelisted(
      `contract with address (${formatAddress(bech32Prefix, contract)}) does not exist`,
    );
  const { whitelistedHooks } = moduleParams.get(context);
  const creator = wrapErrors(
    () => ErrBeforeSendHookNotWhitelisted(`invalid denom: ${denom}`),
    () => creatorOf(denom, bech32Prefix),
  );
  if (whitelistedHooks.some((hook) => hook.codeId === codeId && hook.denomCreator === creator)) return;
  // The deployed module's message also ends in a space.
  throw ErrBeforeSendHookNotWhitelisted(
    `no whitelist for contract with codeID (${codeId}) and denomCreator (${creator}) `,
  );
}

function sudo(
  context: Context,
  {
    transfer,
    coin,
    contract,
  }: { readonly transfer: Transfer; readonly coin: Coin; readonly contract: string },
  name: "block_before_send" | "track_before_send",
  { bech32Prefix, contracts }: Keepers,
): void {
  const { denom, amount } = coin;
  const message = {
    from: formatAddress(bech32Prefix, transfer.from),
    to: formatAddress(bech32Prefix, transfer.to),
    amount: { denom, amount: amount.toString() },
  };
  wrapErrors(`failed to call before send hook for denom ${denom}`, () =>
    contracts.sudo(context, contract, JSON.stringify({ [name]: message })),
  );
}

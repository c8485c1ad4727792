import { unreachable } from "../../platform/base/errors.ts";
import { toChainTypeUrl } from "../../cosmos/proto/type-urls.ts";
import type { BankKeeper } from "./modules/bank/keeper.ts";
import type { IBCModule, ICS4Wrapper } from "./modules/ibc/channel/ibc-module.ts";
import type { ContractManagerModule } from "./modules/contractmanager/module.ts";
import type { IbcKeeper } from "./modules/ibc/keeper.ts";
import type { RateLimitModule } from "./modules/ibc-rate-limit/module.ts";
import { PORT_ID } from "./modules/transfer/keys.ts";
import { createTransferModule } from "./modules/transfer/module.ts";
import type { ChainModule } from "./runtime/module.ts";

/** The way of packets between the applications of IBC and their channels. A local chain puts its limiter in between. */
export interface TransferRoute {
  sender: ICS4Wrapper;
  /** Applications by port. */
  readonly ports: Map<string, IBCModule>;
}

/** Creates the module of transfers over IBC on its route. The response to a transfer is that of the deployed chains of the kind. */
export function transferModule(
  names: {
    readonly kind: "local" | "remote";
    readonly chainName: string;
    readonly bech32Prefix: string;
    readonly authority: string;
  },
  { bank, ibc, route }: { readonly bank: BankKeeper; readonly ibc: IbcKeeper; readonly route: TransferRoute },
): ChainModule {
  const ownResponse = toChainTypeUrl("/neutron.transfer.MsgTransferResponse", names.chainName);
  const transfer = createTransferModule(names.kind === "local" ? { ...names, ownResponse } : names, {
    bank,
    channels: {
      nextSequenceSend: ibc.nextSequenceSend,
      sendPacket: (context, packet) => route.sender.sendPacket(context, packet),
    },
  });
  route.ports.set(PORT_ID, transfer.application);
  return transfer;
}

/**
 * Puts the limiter between transfers and channels, in both directions. A contract that sent a transfer is called right after the
 * application; the limiter is further out.
 */
export function wrapTransfers(
  route: TransferRoute,
  manager: ContractManagerModule,
  limits: RateLimitModule,
): void {
  const inner = route.ports.get(PORT_ID) ?? unreachable("the port of transfers has no application");
  route.sender = limits.limitSender(route.sender);
  route.ports.set(PORT_ID, limits.limitApplication(manager.informSenders(inner)));
}

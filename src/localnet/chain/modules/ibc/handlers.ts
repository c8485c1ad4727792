import type { MessageHandler } from "../../runtime/module.ts";
import type { PortRouter } from "./channel/ibc-module.ts";
import { channelHandlers } from "./channel/handlers.ts";
import { clientHandlers } from "./client/handlers.ts";
import { connectionHandlers } from "./connection/handlers.ts";
import type { IbcOptions } from "./host/handler-forms.ts";

/** Handlers of all messages of IBC. */
export function createMessageHandlers(options: IbcOptions, router: PortRouter): readonly MessageHandler[] {
  return [...clientHandlers(options), ...connectionHandlers(options), ...channelHandlers(options, router)];
}

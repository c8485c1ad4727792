import { Params as ChannelParams } from "../../../../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import { Params as ClientParams } from "../../../../../cosmos/proto/gen/ibc/core/client/v1/client.ts";
import { Params as ConnectionParams } from "../../../../../cosmos/proto/gen/ibc/core/connection/v1/connection.ts";
import { utf8 } from "../../../../../platform/base/bytes.ts";
import { trimGoSpace } from "../../../../../platform/base/text.ts";
import type { Context } from "../../../runtime/context.ts";
import { unregisteredError } from "../../../runtime/errors.ts";
import { defineParams, type ModuleParams } from "../../../runtime/params.ts";
import { ErrInvalidUpgradeTimeout } from "./errors.ts";
import { formatHeight, isZeroHeight, ZERO_HEIGHT } from "./height.ts";
import { STORE_NAME } from "./keys.ts";

/** Entry in `allowed_clients` that allows every client type. */
const ALLOW_ALL_CLIENTS = "*";

/** Client parameters. By default, all client types are allowed. */
export const clientParams: ModuleParams<ClientParams> = defineParams({
  store: STORE_NAME,
  key: utf8("clientParams"),
  type: ClientParams,
  defaults: { allowedClients: [ALLOW_ALL_CLIENTS] },
  validate: ({ allowedClients }) => {
    for (const [index, type] of allowedClients.entries()) {
      if (trimGoSpace(type) === "") throw unregisteredError(`client type ${index} cannot be blank`);
      if (allowedClients.indexOf(type) !== index) throw unregisteredError(`duplicate client type: ${type}`);
    }
    if (allowedClients.length > 1 && allowedClients.includes(ALLOW_ALL_CLIENTS)) {
      throw unregisteredError(
        `allow list must have only one element because the allow all clients wildcard (${ALLOW_ALL_CLIENTS}) is present`,
      );
    }
  },
});

/** Returns whether the parameters allow clients of this type. */
export function isAllowedClient(context: Context, clientType: string): boolean {
  const { allowedClients } = clientParams.get(context);
  return allowedClients.some((allowed) => allowed === ALLOW_ALL_CLIENTS || allowed === clientType);
}

/** IBC connection parameters, with times in nanoseconds. By default, a counterparty's block is expected to take at most 30 s. */
export const connectionParams: ModuleParams<ConnectionParams> = defineParams({
  store: STORE_NAME,
  key: utf8("connectionParams"),
  type: ConnectionParams,
  defaults: { maxExpectedTimePerBlock: 30_000_000_000n },
  validate: ({ maxExpectedTimePerBlock }) => {
    if (maxExpectedTimePerBlock === 0n) throw unregisteredError("MaxExpectedTimePerBlock cannot be zero");
  },
});

/**
 * Channel parameters. The parameters have no effect, because this chain does not support channel upgrades. The default upgrade
 * timeout is 10 minutes.
 */
export const channelParams: ModuleParams<ChannelParams> = defineParams<ChannelParams>({
  store: STORE_NAME,
  key: utf8("channelParams"),
  type: ChannelParams,
  defaults: { upgradeTimeout: { height: ZERO_HEIGHT, timestamp: 600_000_000_000n } },
  validate: ({ upgradeTimeout }) => {
    const { height = ZERO_HEIGHT, timestamp = 0n } = upgradeTimeout ?? {};
    // The timeout must be a time, because a channel upgrade never times out at a height.
    if (!isZeroHeight(height))
      throw ErrInvalidUpgradeTimeout(`upgrade timeout height must be zero. got : ${formatHeight(height)}`);
    if (timestamp === 0n) throw ErrInvalidUpgradeTimeout(`upgrade timeout timestamp invalid: ${timestamp}`);
  },
});

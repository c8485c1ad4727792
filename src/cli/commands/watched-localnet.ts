import type { ChainProfile } from "../../localnet/accounts/chains.ts";
import { firstValidatorOf } from "../../localnet/genesis/genesis.ts";
import type { Ports } from "../../platform/base/localnet-defaults.ts";
import type { localnetWatchdogConfig } from "../../watchdog/cli/localnet-config.ts";

/** Describes a localnet's local chain for the watchdog's configuration. */
export function watchedLocalnet(
  chain: ChainProfile,
  ports: Ports,
): Parameters<typeof localnetWatchdogConfig>[2] {
  const { chainId, chainName } = chain;
  return { chainId, chainName, ports, validator: firstValidatorOf(chain) };
}

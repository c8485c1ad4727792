import { PubKey } from "../../../../cosmos/proto/gen/cosmos/crypto/ed25519/keys.ts";
import { Any } from "../../../../cosmos/proto/gen/google/protobuf/any.ts";
import { TYPE_URL } from "../../../../cosmos/proto/type-urls.ts";
import type { Context } from "../../runtime/context.ts";
import { publicKeys, signingInfos } from "./signing-infos.ts";
import type { Environment } from "./types.ts";

/** The hooks of staking that the module uses. */
export interface SlashingHooks {
  readonly afterValidatorCreated: (context: Context, validator: Uint8Array) => void;
  readonly afterValidatorBonded: (context: Context, consensus: Uint8Array) => void;
  readonly afterValidatorRemoved: (context: Context, consensus: Uint8Array) => void;
}

/** Creates the hooks: they keep the public key of a validator and start its signing info. */
export function createHooks({ staking, format }: Environment): SlashingHooks {
  return {
    afterValidatorCreated: (context, operator) => {
      const { consensus, publicKey } = staking.byOperator(context, operator);
      const packed = { typeUrl: TYPE_URL.ed25519PubKey, value: PubKey.encode({ key: publicKey }).finish() };
      publicKeys.set(context, consensus, Any.encode(packed).finish());
    },
    afterValidatorBonded: (context, consensus) => {
      const fresh = {
        address: format(consensus),
        indexOffset: 0n,
        jailedUntilNs: 0n,
        tombstoned: false,
        missedBlocksCounter: 0n,
      };
      const known = signingInfos.get(context, consensus) ?? fresh;
      signingInfos.set(context, consensus, { ...known, startHeight: context.height });
    },
    afterValidatorRemoved: (context, consensus) => publicKeys.delete(context, consensus),
  };
}

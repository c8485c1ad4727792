import {
  AccessType,
  type AccessConfig,
  Params,
} from "../../../../cosmos/proto/gen/cosmwasm/wasm/v1/types.ts";
import { defineParams } from "../../runtime/params.ts";
import { ErrEmpty, MODULE_NAME } from "./keys.ts";

const { ACCESS_TYPE_ANY_OF_ADDRESSES, ACCESS_TYPE_EVERYBODY, ACCESS_TYPE_UNSPECIFIED } = AccessType;

/** Permission granted to every account. */
export const EVERYBODY: AccessConfig = { permission: ACCESS_TYPE_EVERYBODY, addresses: [] };

/** Who may upload code, and who may instantiate code whose upload does not specify it. */
export const moduleParams = defineParams<Params>({
  store: MODULE_NAME,
  key: Uint8Array.of(0x10),
  type: Params,
  defaults: { codeUploadAccess: EVERYBODY, instantiateDefaultPermission: ACCESS_TYPE_EVERYBODY },
  validate: ({ codeUploadAccess, instantiateDefaultPermission }) => {
    if (instantiateDefaultPermission === ACCESS_TYPE_UNSPECIFIED)
      throw ErrEmpty("type").wrap("instantiate default permission");
    if (codeUploadAccess === undefined || codeUploadAccess.permission === ACCESS_TYPE_UNSPECIFIED)
      throw ErrEmpty("type").wrap("upload access");
  },
});

/** Returns whether an account has a permission. */
export function isAllowed(config: AccessConfig | undefined, account: string): boolean {
  if (config?.permission === ACCESS_TYPE_ANY_OF_ADDRESSES) return config.addresses.includes(account);
  return config?.permission === ACCESS_TYPE_EVERYBODY;
}

/** Returns whether everyone allowed by one permission is also allowed by the other. */
export function isSubset(config: AccessConfig, of: AccessConfig): boolean {
  if (of.permission === ACCESS_TYPE_EVERYBODY || config.permission === AccessType.ACCESS_TYPE_NOBODY)
    return true;
  const areLists = [config, of].every(({ permission }) => permission === ACCESS_TYPE_ANY_OF_ADDRESSES);
  return areLists && config.addresses.every((address) => of.addresses.includes(address));
}

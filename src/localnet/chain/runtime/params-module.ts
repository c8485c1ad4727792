import { toChainTypeUrl } from "../../../cosmos/proto/registry.ts";
import type { JsonValue } from "../../../platform/base/json.ts";
import { errorText } from "../../../platform/base/errors.ts";
import { parseAddress } from "./address.ts";
import type { Context } from "./context.ts";
import {
  ErrInvalidRequest,
  ErrInvalidSigner,
  type ModuleError,
  unregisteredError,
  wrapErrors,
} from "./errors.ts";
import { atPath, type GenesisSchema, partOr, printGenesis, readGenesis } from "./genesis.ts";
import { toMessageHandler, toQueryHandler, type WireType } from "./handlers.ts";
import type { MessageHandler, QueryHandler } from "./module.ts";
import type { ModuleParams } from "./params.ts";

/** Names and account that all modules of a chain get. */
export interface ParamsModuleOptions {
  readonly chainName: string;
  /** Prefix of account addresses. */
  readonly bech32Prefix: string;
  /** The account that may change the params, bech32. */
  readonly authority: string;
}

/** The messages of a module's package that params need. */
interface ParamsTypes<P> {
  readonly update: {
    decode(bytes: Uint8Array): { readonly authority: string; readonly params: P | undefined };
  };
  readonly request: WireType<object>;
  readonly response: WireType<{ params: P | undefined }>;
}

export interface ParamsDefinition<P> {
  /** Canonical name of the protobuf package, with `MsgUpdateParams` and the service `Query`. */
  readonly package: string;
  readonly types: ParamsTypes<P>;
  readonly params: ModuleParams<P>;
  /** Checks the params of the message. Default: `params.validate`. */
  readonly check?: (params: P) => void;
  /** Error of another signer than the authority; by default sdk/18. */
  readonly signerError?: (words: string) => ModuleError;
  /** Whether the stateless checks have the words "failed to validate MsgUpdateParams" in front. Default: they have. */
  readonly namesCheck?: boolean;
}

/** MsgUpdateParams, from the authority only. It checks the authority's address and the params before it looks who the authority is. */
export function updateParamsHandler<P>(
  definition: ParamsDefinition<P>,
  { chainName, bech32Prefix, authority: expected }: ParamsModuleOptions,
): MessageHandler {
  const { package: name, types, params: stored } = definition;
  const {
    signerError = ErrInvalidRequest,
    namesCheck = true,
    check: checkParams = stored.validate,
  } = definition;
  const check = (authority: string, params: P): void => {
    requireAddress(authority, bech32Prefix);
    checkParams(params);
  };
  return toMessageHandler({
    typeUrl: toChainTypeUrl(`/${name}.MsgUpdateParams`, chainName),
    type: types.update,
    signers: ({ authority }) => [authority],
    handle: (context, { authority, params = stored.unset }) => {
      if (signerError === ErrInvalidSigner) requireAuthority(authority, expected, signerError);
      if (namesCheck)
        wrapErrors(
          (error) => error.wrap("failed to validate MsgUpdateParams"),
          () => check(authority, params),
        );
      else check(authority, params);
      requireAuthority(authority, expected, signerError);
      stored.set(context, params);
    },
  });
}

function requireAuthority(authority: string, expected: string, error: (words: string) => ModuleError): void {
  if (authority !== expected) throw error(`invalid authority; expected ${expected}, got ${authority}`);
}

function requireAddress(authority: string, bech32Prefix: string): void {
  try {
    parseAddress(bech32Prefix, authority);
  } catch (error) {
    throw unregisteredError(`authority is invalid: ${errorText(error)}`);
  }
}

/** The query `Params`. */
export function paramsQuery<P>(
  { package: name, types, params }: ParamsDefinition<P>,
  { chainName }: Pick<ParamsModuleOptions, "chainName">,
): QueryHandler {
  return toQueryHandler(
    toChainTypeUrl(`/${name}.Query/Params`, chainName),
    { request: types.request, response: types.response },
    (context) => ({ params: params.get(context) }),
  );
}

/** Stores the params of a genesis state, by default those of the definition. Throws `GenesisError` for invalid ones. */
export function initParams<P>(
  context: Context,
  json: JsonValue | undefined,
  schema: GenesisSchema<{ params: P | undefined }>,
  params: ModuleParams<P>,
): void {
  const given = partOr(json, "params", readGenesis(schema, json)?.params, params.defaults);
  atPath(`app_state.${schema.module}.params`, () => params.set(context, given));
}

/** Prints a genesis state that has nothing but params. */
export function exportParams<P>(
  context: Context,
  schema: GenesisSchema<{ params: P | undefined }>,
  params: ModuleParams<P>,
): JsonValue {
  return printGenesis(schema, { params: params.get(context) });
}

import { unregisteredError } from "../../../runtime/errors.ts";
import type { Any } from "../../../../../cosmos/proto/gen/google/protobuf/any.ts";
import {
  Header,
  Misbehaviour,
} from "../../../../../cosmos/proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import { TYPE_URL } from "../../../../../cosmos/proto/type-urls.ts";
import { decodeUntrusted, ErrUnpackAny } from "../errors.ts";

/** Message of a client update: a header, or two headers that contradict each other. */
export type ClientMessage =
  | { readonly kind: "header"; readonly header: Header }
  | { readonly kind: "misbehaviour"; readonly misbehaviour: Misbehaviour };

/**
 * Decodes a client message from its Any. Throws `ModuleError` when it is absent, has another type, or does not decode.
 */
export function unpackClientMessage(any: Any | undefined): ClientMessage {
  if (any === undefined) throw ErrUnpackAny("protobuf Any message cannot be nil");
  switch (any.typeUrl) {
    case TYPE_URL.tendermintHeader:
      return { kind: "header", header: decodeUntrusted(() => Header.decode(any.value)) };
    case TYPE_URL.tendermintMisbehaviour:
      return { kind: "misbehaviour", misbehaviour: decodeUntrusted(() => Misbehaviour.decode(any.value)) };
    default:
      throw unregisteredError(
        `no concrete type registered for type URL ${any.typeUrl} against interface *exported.ClientMessage`,
      );
  }
}

import { toBinary } from "@bufbuild/protobuf";
import { isReflectList, reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import { unreachable } from "../../../platform/base/errors.ts";
import { requireMessage } from "../../../cosmos/proto/registry.ts";
import { parseFieldValue } from "./field-value.ts";
import type { FormValues } from "./form.ts";
import { setQueryParameters } from "./query-parameters.ts";
import { parseBody } from "./request-body.ts";
import type { FoundRoute, Route } from "./route-table.ts";

/** The sources of a request's values. */
export interface RequestSource {
  /** A function, since its parse errors count only for a route with query parameters. */
  readonly form: () => FormValues;
  readonly body: Uint8Array;
  readonly chainName: string;
}

/** Encodes the gRPC request of a REST call. Throws a plain error with the gateway's text for InvalidArgument. */
export function buildRequest({ route, variables }: FoundRoute, source: RequestSource): Uint8Array {
  if (route.body === "*") return parseBody(route.requestType, source.body, source.chainName);
  const desc = requireMessage(route.requestType);
  const message = reflect(desc);
  setVariables(message, variables);
  if (takesQuery(route)) setQueryParameters(message, source.form(), route.template.variables);
  return toBinary(desc, message.message);
}

/** A route takes query parameters unless its path has variables for all fields, as in the gateway's code generator. */
function takesQuery({ requestType, template }: Route): boolean {
  return requireMessage(requestType).fields.some(({ name }) => !template.variables.includes(name));
}

function setVariables(message: ReflectMessage, variables: ReadonlyMap<string, string>): void {
  for (const [name, text] of variables) {
    const field =
      message.fields.find((each) => each.name === name) ??
      unreachable(`${message.desc.typeName} has no field ${name} for its path`);
    try {
      // Commas separate the values of a repeated field in a path, but not in a query.
      const list: unknown = field.fieldKind === "list" ? message.get(field) : undefined;
      if (isReflectList(list))
        for (const part of text.split(",")) list.add(parseFieldValue(field, part, "path"));
      else message.set(field, parseFieldValue(field, text, "path"));
    } catch (thrown) {
      const reason = thrown instanceof Error ? thrown.message : "unreadable";
      throw new Error(`type mismatch, parameter: ${name}, error: ${reason}`, { cause: thrown });
    }
  }
}

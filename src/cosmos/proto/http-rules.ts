import { type DescMethod, getOption, hasOption, isMessage } from "@bufbuild/protobuf";
import { isReflectList, isReflectMessage, reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import { unreachable } from "../../platform/base/errors.ts";
import { fieldValue } from "./field-formats.ts";
import { protoRegistry, requireMessage } from "./registry.ts";

/** One REST route for a gRPC method. */
export interface HttpRule {
  readonly method: "GET" | "POST" | "PUT" | "DELETE" | "PATCH";
  /** A `google.api.http` path template, such as `/cosmos/bank/v1beta1/balances/{address}`. */
  readonly template: string;
  /** Canonical full name of the gRPC service, such as `cosmos.bank.v1beta1.Query`. */
  readonly service: string;
  /** Method name within the service, such as `Balance`. */
  readonly rpc: string;
  readonly requestType: string;
  readonly responseType: string;
  /** Source of the request: the path and query if "", the JSON body if "*". */
  readonly body: "" | "*";
}

const VERBS = { get: "GET", post: "POST", put: "PUT", delete: "DELETE", patch: "PATCH" } as const;

// The definitions do not change, so the rules are read from their options once.
let rules: readonly HttpRule[] | undefined;

/** Returns every REST route in the definitions under canonical names, ordered by file, service and method. */
export function httpRules(): readonly HttpRule[] {
  rules ??= [...protoRegistry()]
    .filter((desc) => desc.kind === "service")
    .flatMap((service) => service.methods.flatMap(methodRules));
  return rules;
}

function methodRules(method: DescMethod): readonly HttpRule[] {
  const option = protoRegistry().getExtension("google.api.http") ?? unreachable("no option google.api.http");
  if (!hasOption(method, option)) return [];
  const value: unknown = getOption(method, option);
  if (!isMessage(value)) return unreachable(`the http option of ${method.name} is not a message`);
  const rule = reflect(requireMessage("google.api.HttpRule"), value);
  // A method with several routes declares its first route directly and all further routes as additional bindings.
  return [rule, ...additionalBindings(rule)].map((each) => toRule(method, each));
}

function additionalBindings(rule: ReflectMessage): readonly ReflectMessage[] {
  const list = fieldValue(rule, "additional_bindings");
  return isReflectList(list) ? [...list].filter((item) => isReflectMessage(item)) : [];
}

function toRule(method: DescMethod, rule: ReflectMessage): HttpRule {
  const pattern = rule.oneofs.map((oneof) => rule.oneofCase(oneof)).find((field) => field !== undefined);
  const verb = Object.entries(VERBS).find(([name]) => name === pattern?.name)?.[1];
  const template = pattern === undefined ? undefined : rule.get(pattern);
  const body = fieldValue(rule, "body");
  if (verb === undefined || typeof template !== "string" || (body !== "" && body !== "*")) {
    return unreachable(
      `the http option of ${method.parent.typeName}/${method.name} has an unsupported format`,
    );
  }
  return {
    method: verb,
    template,
    service: method.parent.typeName,
    rpc: method.name,
    requestType: method.input.typeName,
    responseType: method.output.typeName,
    body,
  };
}
